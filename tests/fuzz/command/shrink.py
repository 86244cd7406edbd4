"""Reduces a trial that shows a fault: fewer commands, flags, files, members and characters."""

import copy
import time

import documents
from trial import Trial, judge


class Shrinker:
    def __init__(self, stowage, kind, seconds):
        self.stowage, self.kind, self.end = stowage, kind, time.monotonic() + seconds

    def shows(self, trial):
        return any(fault.kind == self.kind for fault in judge(self.stowage, trial, only=self.kind))

    def shrunk(self, trial):
        """Returns the smallest trial found within the time."""
        before = None
        while before != trial.to_json("") and time.monotonic() < self.end:
            before = trial.to_json("")
            for candidates in (self.fewer_commands, self.fewer_words, self.fewer_files, self.smaller_files):
                trial = self.descend(trial, candidates)
        return trial

    def descend(self, trial, candidates):
        """Takes smaller trials as long as one shows the fault."""
        while True:
            for smaller in candidates(trial):
                if time.monotonic() >= self.end:
                    return trial
                if self.shows(smaller):
                    trial = smaller
                    break
            else:
                return trial

    def fewer_commands(self, trial):
        for number in reversed(range(len(trial.commands))):
            commands = copy.deepcopy(trial.commands[:number] + trial.commands[number + 1:])
            for command in commands:
                after = command.get("after")
                if after is not None and after >= number:
                    command["after"] = after - 1
                    if after == number:
                        del command["after"]
            yield Trial(trial.files, commands)

    def fewer_words(self, trial):
        for number, command in enumerate(trial.commands):
            words = command["arguments"]
            for at, word in enumerate(words):
                if not word.startswith("-"):
                    continue
                for count in (2, 1):
                    commands = copy.deepcopy(trial.commands)
                    commands[number]["arguments"] = words[:at] + words[at + count:]
                    yield Trial(trial.files, commands)

    def fewer_files(self, trial):
        for name in trial.files:
            yield Trial({other: text for other, text in trial.files.items() if other != name}, trial.commands)

    def smaller_files(self, trial):
        for name, content in trial.files.items():
            for smaller in smaller_contents(content):
                if len(smaller) < len(content):
                    yield Trial({**trial.files, name: smaller}, trial.commands)


def smaller_contents(content):
    """Yields smaller contents: documents without some of their values and members, other files
    without some of their lines and bytes."""
    try:
        document = documents.parse(content)
    except (ValueError, RecursionError):
        lines = content.splitlines(keepends=True)
        size = max(1, len(lines) // 2)
        while size and lines:
            for at in range(0, len(lines), size):
                yield b"".join(lines[:at] + lines[at + size:])
            size //= 2
        if len(lines) == 1:
            for at in range(0, len(content), max(1, len(content) // 16)):
                yield content[:at] + content[at + max(1, len(content) // 16):]
        return
    yield documents.dump(document)
    for place in list(documents.all_places(document)):
        value = documents.at(document, place.path)
        if isinstance(value, list) and len(value) > 3:
            yield documents.dump(documents.changed(document, place.path, value[:len(value) // 2]))
            yield documents.dump(documents.changed(document, place.path, value[len(value) // 2:]))
        if place.path and not isinstance(place.path[-1], int):
            parent = documents.at(document, place.path[:-1])
            less = {key: member for key, member in parent.items() if key != place.path[-1]}
            yield documents.dump(documents.changed(document, place.path[:-1], less))
        elif place.path:
            parent = documents.at(document, place.path[:-1])
            yield documents.dump(documents.changed(
                document, place.path[:-1], parent[:place.path[-1]] + parent[place.path[-1] + 1:]))
        if isinstance(value, str) and len(value) > 1:
            yield documents.dump(documents.changed(document, place.path, value[:len(value) // 2]))
            yield documents.dump(documents.changed(document, place.path, value[len(value) // 2:]))
        if isinstance(value, documents.Raw) and len(value) > 1:
            yield documents.dump(documents.changed(document, place.path, documents.Raw(b"1")))
