"""
`render(Plan) -> Manifests`: the objects of a plan, the same bytes for the same plan.

Owns: one file a family of kinds (`kinds/`), the order of objects, files for kustomize, workload pods, image lists.
Must not: decide; the stage's name is an opaque label here.
"""
