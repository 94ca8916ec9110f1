#!/bin/sh
# Write a library that has the names of CUDA's driver library which perftest calls, and does nothing: for the linker.
# The real one belongs to the driver, and is put into a container when it starts.
# Usage: stub-of-libcuda.sh SOURCES HEADERS TO
set -eu
sources=$1
headers=$2
to=$3
mkdir -p "${to}"
# Headers rename calls by version (cuMemAlloc is cuMemAlloc_v2): the compiler is asked what each name becomes.
names=$(grep -ohE '\bcu[A-Z][A-Za-z0-9]+\(' "${sources}"/*.c "${sources%/src}"/configure.ac 2>/dev/null | tr -d '(' | sort -u)
extra='cuMemGetHandleForAddressRange cuMemRetainAllocationHandle'
{
    echo '#include <cuda.h>'
    for name in ${names} ${extra}; do echo "railwright_name ${name}"; done
} | cc -E -P -I"${headers}" - | sed -n 's/^railwright_name \(cu[A-Za-z0-9_]*\)$/void \1(void) {}/p' | sort -u >"${to}/stub.c"
test -s "${to}/stub.c"
cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o "${to}/libcuda.so" "${to}/stub.c"
