"""The table of rules on text; a rule that is not in it does not exist."""

from railwright.doctor.text import devices, driver, fabric, library, memory, platform
from railwright.doctor.text.model import TextRule

TEXT_RULES: tuple[TextRule, ...] = (
    *driver.RULES,
    *platform.RULES,
    *devices.RULES,
    *fabric.RULES,
    *memory.RULES,
    *library.RULES,
)
