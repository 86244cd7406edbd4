# The front door: what programs that use stowage may include, and what <stowage/stowage.h> includes.
# Every other header is private. A header that one of these includes must stand here too (tests/tree),
# so keep their includes few: <stowage/stowage.h> is to compile in less than a second.
set(STOWAGE_PUBLIC_HEADERS
    # Words that all others use.
    instances/units.h
    instances/result.h
    instances/budget.h
    instances/unit.h
    instances/model/recorded_block.h
    # What is planned, plans, their documents and their verifiers; by family.
    instances/scatter/cluster.h
    instances/scatter/time_grid.h
    instances/scatter/instance.h
    instances/scatter/plan.h
    instances/scatter/certificate.h
    instances/scatter/presets.h
    instances/scatter/json.h
    instances/scatter/verify.h
    instances/scatter/trainer.h
    instances/scatter/family.h
    instances/assign/instance.h
    instances/assign/plan.h
    instances/assign/certificate.h
    instances/assign/json.h
    instances/assign/verify.h
    instances/assign/trainer.h
    instances/assign/family.h
    instances/layout/instance.h
    instances/layout/plan.h
    instances/layout/json.h
    instances/layout/verify.h
    instances/layout/family.h
    instances/order/instance.h
    instances/order/plan.h
    instances/order/certificate.h
    instances/order/json.h
    instances/order/verify.h
    instances/order/family.h
    instances/strategy/instance.h
    instances/strategy/plan.h
    instances/strategy/certificate.h
    instances/strategy/json.h
    instances/strategy/verify.h
    instances/strategy/family.h
    instances/partition/partition.h
    instances/partition/verify.h
    # Any of them.
    instances/family_list.h
    instances/families.h
    instances/violation.h
    instances/infeasibility.h
    instances/check.h
    instances/verify.h
    instances/trainer/step.h
    # Planning.
    formulations/bound.h
    solvers/milp/backends.h
    solvers/method.h
    solvers/outcome.h
    solvers/solve.h
    solvers/scatter/plan_stream.h
    solvers/partition/balanced_partitions.h
    # Attention over packed sequences.
    kernels/attention/attention.h)
