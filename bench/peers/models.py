"""Solvers of MILPs on a model that `stowage export` wrote. Each takes the .mps file, the path of its
solution, and a limit in wall-clock seconds, and runs on one thread."""
import math
import re
import resource
import subprocess
import time

from answer import Answer


def _finite(bound):
    return bound if math.isfinite(bound) and abs(bound) < 1e20 else None


def cbc(model, solution, seconds):
    """Runs the command of CBC with its default settings; stowage calls CBC's library with other
    settings."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    said = subprocess.run(["cbc", model, "-sec", str(seconds), "-solve", "-solution", solution],
                          capture_output=True, text=True, check=False).stdout
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
    result = re.search(r"^Result - (.*)$", said, re.MULTILINE)
    objective = re.search(r"^Objective value: +(\S+)$", said, re.MULTILINE)
    bound = re.search(r"^Lower bound: +(\S+)$", said, re.MULTILINE)
    proven = result is not None and result[1].startswith("Optimal")
    if proven and bound is None:
        bound = objective
    return Answer(result[1].lower() if result else "no result", solution if objective else None,
                  _finite(float(bound[1])) if bound else None, took)


def scip(model, solution, seconds):
    import pyscipopt
    began = time.process_time()
    problem = pyscipopt.Model()
    problem.hideOutput()
    problem.readProblem(str(model))
    problem.setParam("limits/time", seconds)
    problem.optimize()
    took = time.process_time() - began
    found = problem.getNSols() > 0
    if found:
        problem.writeBestSol(str(solution))
    return Answer(problem.getStatus(), solution if found else None, _finite(problem.getDualbound()), took)


def highs(model, solution, seconds):
    import highspy
    began = time.process_time()
    problem = highspy.Highs()
    problem.silent()
    problem.setOptionValue("threads", 1)
    problem.setOptionValue("time_limit", float(seconds))
    problem.readModel(str(model))
    problem.run()
    took = time.process_time() - began
    about = problem.getInfo()
    found = about.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if found:
        problem.writeSolution(str(solution), 0)
    return Answer(problem.modelStatusToString(problem.getModelStatus()).lower(),
                  solution if found else None, _finite(about.mip_dual_bound), took)


def cp_sat(model, solution, seconds):
    """Runs CP-SAT. It computes with integers, so OR-tools rounds the coefficients. Its bound and
    its proof therefore belong to a slightly different model."""
    from ortools.linear_solver.python import model_builder
    began = time.process_time()
    problem = model_builder.Model()
    if not problem.import_from_mps_file(str(model)):
        return Answer("model not read", None, None, time.process_time() - began)
    solver = model_builder.Solver("sat")
    solver.set_time_limit_in_seconds(seconds)
    solver.set_solver_specific_parameters("num_workers:1")
    status = solver.solve(problem)
    took = time.process_time() - began
    found = status.name in ("OPTIMAL", "FEASIBLE")
    if found:  # as Gurobi writes them
        with open(solution, "w", encoding="utf-8") as file:
            file.write(f"# Objective value = {solver.objective_value!r}\n")
            for variable in problem.get_variables():
                file.write(f"{variable.name} {solver.value(variable)!r}\n")
    return Answer(status.name.lower(), solution if found else None,
                  _finite(solver.best_objective_bound) if found else None, took)


ALL = {"CBC": cbc, "SCIP": scip, "HiGHS": highs, "CP-SAT": cp_sat}
