"""Random trials: instances with extreme values in the commands of every family, changed documents
in the commands that read them, and commands with the flags of their help."""

import itertools
import json
import re
import subprocess

import documents
import flags
import hostile
from documents import Raw
from trial import Trial

SHORT = ["--node-limit", "30", "-t", "0.3"]  # so that no search takes long


class Trials:
    def __init__(self, stowage, pool, draw):
        self.pool, self.draw = pool, draw
        self.commands = flags.commands(stowage)
        self.methods = methods(self.commands[("solve",)].flags["--method"].words)
        self.schemas = {}
        for name in self.commands[("schema",)].flags and schema_names(stowage):
            text = subprocess.run([stowage, "schema", name], capture_output=True, check=True).stdout
            self.schemas[name] = documents.Schema(json.loads(text))
        self.sweep = self.all_changes()
        self.places, self.seen = {name for name, *_ in self.sweep}, set()
        self.kinds = (self.swept, self.swept, self.combined, self.solved, self.solved, self.read, self.read,
                      self.flagged)

    def next(self):
        return self.draw.choice(self.kinds)()

    # --- instances ---

    def family(self, name):
        return name.split("-")[0]

    def schema_of(self, name):
        return self.schemas[f"{self.family(name)}-instance"]

    def all_changes(self):
        """Returns every location of each sample with each value, in random order: label, name,
        place, index of the value."""
        changes = []
        for name in self.pool.instances:
            document = documents.parse(self.pool.files[f"{name}.json"])
            for place in self.schema_of(name).places(document):
                count = sum(1 for _ in documents.values(place))
                label = f"{self.family(name)}{place.name()}"
                changes += [(label, name, place, index) for index in range(count)]
        self.draw.shuffle(changes)
        return changes

    def swept(self):
        """Returns a trial with the next change that was not tried yet."""
        if not self.sweep:
            return self.combined()
        label, name, place, index = self.sweep.pop()
        self.seen.add(label)
        value = next(itertools.islice(documents.values(place), index, None))
        return self.life(name, documents.dump(documents.changed(place.document, place.path, value)))

    def combined(self):
        """Returns a trial with several changes at once, most of them to valid values."""
        name = self.draw.choice(self.pool.instances)
        document = documents.parse(self.pool.files[f"{name}.json"])
        for _ in range(self.draw.choice((1, 2, 2, 3, 4, 6))):
            document = self.changed_once(document, self.schema_of(name), self.draw.random() < 0.8)
        return self.life(name, documents.dump(document))

    def changed_once(self, document, schema, likely):
        places = schema and list(schema.places(document)) or list(documents.all_places(document))
        place = self.draw.choice(places)
        value = documents.at(place.document, place.path)
        if likely and isinstance(value, Raw):
            new = Raw(self.number(place.schema).encode())
        elif likely and isinstance(value, list) and value and all(isinstance(one, Raw) for one in value):
            items = schema.followed(place.schema.get("items", {})) if schema else {}
            new = [Raw(self.number(items).encode()) for _ in range(self.draw.randint(1, 14))]
        else:
            new = self.draw.choice(list(documents.values(place)))
        return documents.changed(place.document, place.path, new)

    def number(self, schema):
        """Returns a number within the range of a schema: small, a limit, or of any size between."""
        least, most = schema.get("minimum", 0), schema.get("maximum", 2 ** 53)
        kind = self.draw.random()
        if kind < 0.1:
            return repr(self.draw.choice((least, most)))
        if kind < 0.2:
            high = float(min(most, 2 ** 53))
            value = max(float(least), high ** self.draw.random() if high > 1 else high * self.draw.random())
        else:
            value = least + self.draw.choice((0, 1, 2, 3, 4, 7, 10, 30, 100, self.draw.randint(1, 200)))
            value = min(value, most)
        if schema.get("type") == "number" and self.draw.random() < 0.3:
            return repr(min(float(most), max(float(least), value * self.draw.random())))
        return repr(int(value)) if schema.get("type") != "number" else repr(value)

    def solve_flags(self, name):
        given = [*SHORT]
        if self.draw.random() < 0.7:
            given += ["--method", self.draw.choice(self.methods[self.family(name)])]
        if self.draw.random() < 0.2:
            given += ["--solver", self.draw.choice(("glpk", "cbc", "highs"))]
        if self.draw.random() < 0.3:
            given += ["--seed", str(self.draw.randint(0, 9))]
        if self.draw.random() < 0.2:
            given += ["--gap", self.draw.choice(("0.1", "1", "1e-9"))]
        if self.draw.random() < 0.3:
            given += ["--timeless"]
        return given

    def life(self, name, instance):
        """Returns a trial that solves an instance and gives the answer to the commands that read
        it."""
        commands = [
            {"arguments": ["solve", "in.json", "-o", "plan.json", *self.solve_flags(name)], "stdout": "outcome.json"},
            {"arguments": ["verify", "in.json", "outcome.json"], "after": 0, "codes": [0]},
            {"arguments": ["verify", "in.json", "outcome.json"], "after": 0, "ended": 1, "codes": [0]},
        ]
        all_others = [
            {"arguments": ["verify", "in.json", "plan.json"], "after": 0, "codes": [0]},
            {"arguments": ["render", "in.json", "outcome.json", "-o", "p.svg"], "after": 0, "codes": [0]},
            {"arguments": ["render", "in.json", "plan.json", "-o", "p.html"], "after": 0, "codes": [0]},
            {"arguments": ["explain", "in.json", "plan.json", "--node-limit", "20", "-t", "0.1"], "after": 0,
             "codes": [0]},
            {"arguments": ["solve", "in.json", "--start", "plan.json", "--node-limit", "0"], "after": 0, "codes": [0]},
            {"arguments": ["compare", "in.json", "--methods", ",".join(self.draw.sample(
                self.methods[self.family(name)], 2)), "-t", "0.05", "--node-limit", "20", "--milp-limit", "0.05",
                "--baseline-limit", "0.3"]},
            {"arguments": ["explain", "in.json", "--node-limit", "20", "-t", "0.1"]},
            {"arguments": ["export", "in.json", "-o", self.draw.choice(("m.lp", "m.mps"))]},
            {"arguments": ["memory", "in.json", "plan.json", "--model", "gpt-7b", *SHORT]},
            {"arguments": ["run", "in.json", "plan.json", "--work", "0.0001", "-t", "1"], "after": 0},
            {"arguments": ["convert", "in.json", self.draw.choice(("t.json", "t.bin", "t.csv")), "--plan",
                           "plan.json"], "after": 0},
            {"arguments": ["propose", "in.json", "-o", "proposed.json"]},
            {"arguments": ["configure", "in.json", "-o", "d", "--candidates", "1", *SHORT]},
        ]
        return Trial({"in.json": instance}, commands + self.draw.sample(all_others, 3))

    def solved(self):
        """Returns a trial of an instance that probably has a plan, with random flags; the answer
        must pass verify --strict."""
        commands, files, after = [], {}, {}
        if self.draw.random() < 0.4:
            name, words = self.generated()
            commands, after = [{"arguments": ["generate", *words, "-o", "in.json"]}], {"after": 0}
        else:
            name = self.draw.choice(self.pool.instances)
            files["in.json"] = documents.dump(self.altered(name))
        solve = len(commands)
        return Trial(files, commands + [
            {"arguments": ["solve", "in.json", "-o", "plan.json", *self.solve_flags(name)], "stdout": "outcome.json",
             **after},
            {"arguments": ["verify", "in.json", "outcome.json", "--strict"], "codes": [0], "after": solve},
            {"arguments": ["verify", "in.json", "outcome.json"], "codes": [0], "after": solve, "ended": 1},
        ])

    def altered(self, name):
        """Returns a sample with other numbers, mostly near the original ones, and sometimes one
        more member."""
        document = documents.parse(self.pool.files[f"{name}.json"])
        schema = self.schema_of(name)
        for _ in range(self.draw.randint(1, 8)):
            more = self.draw.random() < 0.1
            place = self.draw.choice([place for place in schema.places(document) if "enum" not in place.schema and (
                more or place.document is document) and isinstance(
                    documents.at(place.document, place.path), (Raw, list, bool))])
            value = documents.at(place.document, place.path)
            if isinstance(value, bool):
                new = not value
            elif isinstance(value, Raw):
                new = self.near(value, place.schema)
            elif value and all(isinstance(one, Raw) for one in value):
                items = schema.followed(place.schema.get("items", {}))
                new = [self.near(self.draw.choice(value), items) for _ in value]
                if place.path == ("lengths",):
                    document.pop("loss_tokens", None)
                    new += [self.near(one, items) for one in new[:self.draw.randint(0, 9)]]
            else:
                continue
            document = documents.changed(place.document, place.path, new)
        return document

    def near(self, value, schema):
        """Returns a number of similar size, or any number within the range of the schema."""
        if self.draw.random() < 0.1:
            return Raw(self.number(schema).encode())
        near = float(value) * self.draw.choice((0.5, 0.8, 1, 1, 1.25, 2, self.draw.random() * 3))
        near = min(max(near, schema.get("minimum", 0)), schema.get("maximum", 2 ** 53))
        return Raw(repr(near if schema.get("type") == "number" else round(near)).encode())

    def generated(self):
        """Returns a family and the words with which the command generates a small instance."""
        pick, seed = self.draw.choice, str(self.draw.randrange(10 ** 6))
        lengths = ["--lengths", "uniform", "--least", pick(("1", "200", "900")), "--most",
                   pick(("1000", "4096", "16384"))]
        words = pick((
            ["scatter", "--devices", pick(("2", "4", "8", "12")), "--count", str(self.draw.randint(1, 20)), "--degrees",
             pick(("powers", "local-or-sharded", "any")), "--limit", pick(("16k", "64k")), "--above-limit", "clip",
             *lengths, "--seed", seed],
            ["assign", "--preset", pick(("llama-7b", "llama-13b", "llama-32b")), "--tokens",
             pick(("16k", "40k", "80k")), *lengths, "--seed", seed],
            ["assign", "--tokens", pick(("16k", "60k")), "--limit", "64k", "--chunk-tokens", pick(("1k", "4k")),
             "--retained", pick(("1", "2")), *lengths, "--seed", seed],
            ["layout", "--kind", pick(("random", "short-lived", "rolling", "guillotine")), "--buffers",
             str(self.draw.randint(1, 30)), "--steps", str(self.draw.randint(30, 60)), "--bytes",
             pick(("16", "100", "4096")), "--seed", seed],
            ["order", "--kind", pick(("transformer", "chunked", "randwire", "layered", "layered-local", "recompute",
                                      "accumulate", "experts")), "--operators", str(self.draw.randint(8, 40))],
            ["order", "--kind", pick(("vgg", "unet")), "--operators", str(self.draw.randint(8, 24)),
             "--capacity-share", pick(("0.6", "0.8", "1"))],
            ["order", "--kind", pick(("vgg", "unet")), "--operators", str(self.draw.randint(8, 24)),
             "--capacity-share", pick(("0.6", "0.8", "1")), "--host-rate", pick(("1e4", "1e7"))],
            ["strategy", "--preset", pick(("llama-7b", "gpt-13b", "qwen3-30b-a3b")), "--nodes", pick(("1", "2")),
             "--devices-per-node", pick(("4", "8")), "--sequences", str(self.draw.randint(4, 32)), "--tokens",
             pick(("1k", "8k"))]))
        return words[0], words

    # --- documents that are read ---

    def read(self):
        """Returns a trial of a changed document or table, with all commands that read its kind."""
        name = self.draw.choice(list(self.pool.files))
        content = self.pool.files[name]
        try:
            document = documents.parse(content)
        except (ValueError, RecursionError):
            content = self.changed_bytes(content)
        else:
            schema = self.schema_for(document)
            for _ in range(self.draw.choice((1, 1, 2, 3))):
                document = self.changed_once(document, schema, self.draw.random() < 0.4)
            content = documents.dump(document)
            if self.draw.random() < 0.1:
                content = self.changed_bytes(content)
        files = dict(self.pool.files)
        files[name] = content
        reading = [words for words in self.readers(name) if self.draw.random() < 0.5] or self.readers(name)[:1]
        used = {word for words in reading for word in words}
        return Trial({file: text for file, text in files.items() if file in used or file.startswith("cost")
                      and any("cost" in word for word in used)},
                     [{"arguments": words} for words in reading])

    def schema_for(self, document):
        if not isinstance(document, dict):
            return None
        kind, problem = document.get("format"), document.get("problem")
        name = {"stowage/instance": f"{problem}-instance", "stowage/plan": f"{problem}-plan",
                "stowage/outcome": "outcome", "stowage/trainer": "trainer",
                "stowage/partition": "partition"}.get(kind, "")
        if kind is None and ("rows" in document or "sample_id_groups" in document):
            name = "audited-work"
        # Half of the time members outside of the schema are changed too.
        return self.schemas.get(name) if self.draw.random() < 0.5 else None

    def changed_bytes(self, content):
        content = bytearray(content)
        for _ in range(self.draw.choice((1, 1, 2, 5))):
            at = self.draw.randrange(len(content) + 1)
            piece = self.draw.choice((
                bytes([self.draw.randrange(256)]), self.draw.choice(hostile.NUMBERS).encode(),
                self.draw.choice(list(hostile.TEXTS.values()))[:300].encode("utf-8", "surrogatepass"),
                self.draw.choice(list(hostile.BYTES.values())), b"\n", b",", b"\0" * 9, b"[" * 2000, b""))
            content[at:at + self.draw.choice((0, 0, 1, 4, 16))] = piece
        return bytes(content)

    def readers(self, name):
        """Returns the commands that read a file of the pool."""
        stem = re.sub(r"(-(plan|outcome|layout|comparison|trainer))?\.\w+$", "", name)
        instance, plan = f"{stem}.json", f"{stem}-plan.json"
        if name.endswith("-comparison.json"):
            return [["render", instance, plan, "--comparison", name, "-o", "p.html"]]
        if "-trainer." in name:
            return [["convert", name, "-"], ["convert", name, "back.json"], ["convert", name, "back.bin"]]
        if name.endswith("-layout.json"):
            return [["run", instance, plan, "--layout", name, "-t", "1"]]
        if name.endswith(("-plan.json", "-outcome.json")):
            return [["verify", instance, name], ["verify", instance, name, "--strict"],
                    ["render", instance, name, "-o", "p.svg"], ["render", instance, name, "-o", "p.html"],
                    ["explain", instance, name, "--node-limit", "20", "-t", "0.1"],
                    ["solve", instance, "--start", name, *SHORT], ["memory", instance, name, "--model", "gpt-7b"],
                    ["convert", instance, "t.json", "--plan", name], ["convert", instance, "t.bin", "--plan", name],
                    ["run", instance, name, "--work", "0.0001", "-t", "1"]]
        if name.endswith(".sol"):
            return [["import", f"{name[:-4]}.json", name, "-o", "-"]]
        if name == "samples.csv":
            return [["fit", name, "-o", "c.json"], ["fit", name, "-o", "c.json", "--table", "--picture", "c.svg"]]
        if name == "table.csv":
            return [["convert", name, "made.json"]]
        if name == "lengths.txt":
            return [["convert", name, "made.json"], ["partition", name, "--bins", "3"],
                    ["plan-stream", name, "--batch-size", "4", *SHORT],
                    ["generate", "scatter", "--lengths", name, "--count", "8", "-o", "made.json"]]
        if name in ("lengths.json", "partition.json"):
            return [["partition", name, "--bins", "3"]]
        if name in ("trace.csv", "trace.jsonl", "array.npy", "documents.idx"):
            column = {"trace.csv": ("--column", "tokens"), "trace.jsonl": ("--column", "usage.tokens")}.get(name, ())
            return [["convert", name, "made.json", *column], ["partition", name, "--bins", "3", *column],
                    ["generate", "strategy", "--lengths", name, "--sequences", "4", *column],
                    ["generate", "scatter", "--lengths", name, "--count", "3", "--step", "1", *column],
                    ["convert", name, "made.json"]]
        if name in ("work.json", "groups.json"):
            return [["audit", name], ["audit", name, "--max-tokens", "100", "--linear", "3"]]
        if name == "steps.jsonl":
            return [["plan-stream", name, *SHORT], ["plan-stream", name, "-o", "d", "--trainer", "bin", *SHORT]]
        return [["solve", name, *SHORT], ["convert", name, "made.csv"], ["export", name, "-o", "m.lp"],
                ["generate", "scatter", "--lengths", name], ["convert", name, "made.json"],
                ["plan-stream", "steps.jsonl", "--instance", name, *SHORT], ["propose", name], ["memory", name, *SHORT],
                ["fit", "samples.csv", "-o", "c.json", "--instance", name]]

    # --- flags ---

    def flagged(self):
        """Returns a trial of a command with suitable files, and some of its flags with values of
        all kinds."""
        command = self.draw.choice(list(self.commands.values()))
        stem = self.draw.choice(self.pool.instances)
        instance, plan = f"{stem}.json", f"{stem}-plan.json"
        files = {"INSTANCE": [instance], "PLAN": [plan, f"{stem}-outcome.json"], "LAYOUT": [f"{stem}-layout.json"],
                 "LENGTHS": ["lengths.txt", "lengths.json", "trace.csv", "array.npy"], "STEPS": ["steps.jsonl", "lengths.txt"],
                 "SAMPLES": ["samples.csv"], "WORK": ["work.json", "groups.json"], "SOLUTION": [f"{stem}.sol"], "COST": ["cost.json"],
                 "IN": [instance, "lengths.txt", "table.csv", "lengths.txt"], "OUT": ["out.json", "out.csv", "out.bin"],
                 "FILE": ["lengths.txt", f"{stem}-comparison.json"], "SOURCE": ["lengths.txt", "trace.jsonl", "uniform", "constant"],
                 "SHELL": ["bash", "zsh"], "OTHER": [plan], "NAME": ["fast", "auto", "exact", "x", "tokens", "usage.tokens", *self.schemas],
                 "DIR": ["d"], "FILE.svg": ["p.svg"], "A,B,...": ["1,2", "fast,auto", "plan,search"],
                 "TOKENS,...": ["64,1", "9"], "I/N": ["0/2", "1/2"], "DEVICES": ["0", "0-1"]}
        words = list(command.name)
        for positional in command.positionals:
            if not positional.startswith("[") or self.draw.random() < 0.7:
                words.append(self.draw.choice(files.get(positional.strip("[]"), ["x"])))
        chosen = set(command.required)
        if command.flags:
            chosen.update(self.draw.sample(list(command.flags), min(len(command.flags), self.draw.randint(1, 5))))
        for name in sorted(chosen):
            flag = command.flags[name]
            words.append(name)
            if name in ("--output", "--samples", "--picture"):
                words.append(self.draw.choice(("out.svg", "out.html", "out.lp", "out.mps", "out.json", "out")))
            elif flag.value:
                words.append(flags.value(flag, self.draw, files))
        if "--time-limit" in command.flags and "--time-limit" not in chosen:
            words += ["-t", "0.2"]
        if command.name == ("compare",):
            words += ["--baseline-limit", "0.2"]
        if command.name == ("calibrate",) and "--packs" not in chosen:
            words += ["--degrees", "1", "--packs", "9", "--max-tokens", "64", "--rounds", "1"]
        if command.name[0] == "generate":
            words += [word for name, small in (("--count", "8"), ("--operators", "30"), ("--buffers", "9"))
                      if name in command.flags and name not in chosen for word in (name, small)]
        return Trial({file: text for file, text in self.pool.files.items() if file in words},
                     [{"arguments": words}])


def methods(words):
    """Returns the methods of each family, as the help of solve lists them."""
    found = {}
    for family, listed in re.findall(r"(\w+)(?: with chunks)?: ([a-z0-9A-Z., -]+)", words):
        found.setdefault(family, [])
        found[family] += [name.strip().replace("DEGREE", "2") for name in listed.split(",")
                          if name.strip() and name.strip().replace("DEGREE", "2") not in found[family]]
    return found


def schema_names(stowage):
    text = subprocess.run([stowage, "schema", "--help"], capture_output=True, text=True, check=True).stdout
    listed = text[text.index("NAME  "):text.index("Options:")].removeprefix("NAME")
    return [name.strip() for name in listed.split(",")]
