# The front door: what programs that use stowage may include, and what <stowage/stowage.h> includes.
# Every other header is private. A header that one of these includes must stand here too (tests/tree),
# so keep their includes few: <stowage/stowage.h> is to compile in less than a second.
set(STOWAGE_PUBLIC_HEADERS
    # Words that all others use.
    instances/units.h
    instances/result.h
    instances/budget.h
    # What is planned, and plans.
    instances/scatter/instance.h
    instances/scatter/plan.h
    instances/scatter/certificate.h
    instances/scatter/presets.h
    instances/assign/instance.h
    instances/assign/plan.h
    instances/assign/certificate.h
    instances/layout/instance.h
    instances/layout/plan.h
    instances/instance.h
    instances/check.h
    instances/verify.h
    # Documents.
    instances/json/document.h
    instances/trainer/step.h
    # Planning.
    formulations/bound.h
    formulations/milp/model.h
    solvers/milp/solver.h
    solvers/outcome.h
    solvers/solve.h
    solvers/scatter/plan_stream.h
    # Attention over packed sequences.
    kernels/attention/attention_shape.h
    kernels/attention/attention.h)
