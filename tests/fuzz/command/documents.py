"""JSON documents as trees in which numbers keep their text, and all locations of a tree that a
schema describes, including those of members that the document lacks."""

import copy
import json

import hostile


class Raw(bytes):
    """A JSON value as bytes, valid or not."""


def parse(text):
    return json.loads(text, parse_float=lambda t: Raw(t.encode()), parse_int=lambda t: Raw(t.encode()),
                      parse_constant=lambda t: Raw(t.encode()))


def dump(value):
    """Returns the bytes of a document."""
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, dict):
        return b"{" + b", ".join(
            (key if isinstance(key, Raw) else json.dumps(key).encode()) + b": " + dump(member)
            for key, member in value.items()) + b"}"
    if isinstance(value, list):
        return b"[" + b", ".join(dump(element) for element in value) + b"]"
    return json.dumps(value).encode()


class Place:
    """A location in a document: the document, the path to the value, and the schema of the value."""

    def __init__(self, document, path, schema):
        self.document, self.path, self.schema = document, path, schema

    def name(self):
        return "/" + "/".join("[]" if isinstance(step, int) else step for step in self.path)


def at(document, path):
    for step in path:
        document = document[step]
    return document


def changed(document, path, value):
    """Returns a copy of the document with another value at the path."""
    if not path:
        return value
    document = copy.deepcopy(document)
    at(document, path[:-1])[path[-1]] = value
    return document


class Schema:
    def __init__(self, root):
        self.root = root

    def followed(self, schema):
        while isinstance(schema, dict) and "$ref" in schema:
            found = self.root
            for step in schema["$ref"].lstrip("#/").split("/"):
                found = found[step]
            schema = found
        return schema

    def members(self, schema, value):
        """Yields key and schema of each member that an object of this schema has or could have."""
        own = schema.get("properties", {})
        yield from own.items()
        other = [s for p, s in schema.get("patternProperties", {}).items() if p != "^x-"]
        if isinstance(schema.get("additionalProperties"), dict):
            other.append(schema["additionalProperties"])
        for key in value:
            if key not in own and other:
                yield key, other[0]

    def stub(self, schema):
        """Returns a minimal value of a schema, for a member that the document lacks."""
        schema = self.followed(schema)
        for several in ("oneOf", "anyOf"):
            if several in schema:
                return self.stub(schema[several][0])
        if "enum" in schema:
            return schema["enum"][0]
        if "const" in schema:
            return schema["const"]
        kind = schema.get("type", "string")
        if isinstance(kind, list):
            kind = kind[0]
        if kind in ("integer", "number"):
            return Raw(b"1")
        if kind == "boolean":
            return True
        if kind == "array":
            items = schema.get("items")
            return [self.stub(items)] if isinstance(items, dict) else []
        if kind == "object":
            return {key: self.stub(schema["properties"][key]) for key in schema.get("required", ())
                    if key in schema.get("properties", {})}
        return "x" if kind == "string" else None

    def fits(self, schema, value):
        """Returns whether a value matches this branch of oneOf or anyOf: the type, and the required
        members."""
        schema = self.followed(schema)
        kinds = schema.get("type", [])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        own = ("object" if isinstance(value, dict) else "array" if isinstance(value, list) else
               "boolean" if isinstance(value, bool) else "number" if isinstance(value, Raw) else
               "null" if value is None else "string")
        if "enum" in schema:
            return value in schema["enum"]
        if kinds and own not in kinds and not (own == "number" and "integer" in kinds):
            return False
        return own != "object" or all(key in value for key in schema.get("required", ()))

    def places(self, document, schema=None, path=()):
        """Yields all locations. A member that the document lacks is added first, with a minimal
        value."""
        schema = self.followed(self.root if schema is None else schema)
        value = at(document, path)
        for several in ("oneOf", "anyOf"):
            if several in schema:
                for branch in schema[several]:
                    if self.fits(branch, value):
                        yield from self.places(document, branch, path)
                return
        yield Place(document, path, schema)
        if isinstance(value, dict):
            for key, member in list(self.members(schema, value)):
                there = key in value
                whole = document if there else changed(document, path + (key,), self.stub(member))
                yield from self.places(whole, member, path + (key,))
        elif isinstance(value, list) and isinstance(schema.get("items"), dict):
            for index in sorted({0, len(value) - 1} if value else ()):
                yield from self.places(document, schema["items"], path + (index,))


def all_places(document, path=()):
    """Yields the locations of a document without a schema: those of its own values."""
    value = at(document, path)
    yield Place(document, path, {})
    if isinstance(value, dict):
        for key in value:
            yield from all_places(document, path + (key,))
    elif isinstance(value, list):
        for index in sorted({0, len(value) // 2, len(value) - 1} if value else ()):
            yield from all_places(document, path + (index,))


def hostile_texts():
    yield from hostile.TEXTS.values()
    for text in hostile.BYTES.values():
        yield Raw(b'"' + text + b'"')


def renamed(value, old, new):
    return {(new if key == old else key): member for key, member in value.items()}


def values(place):
    """Yields all values to try at a location: extreme values of the same type, and values of wrong
    types."""
    value, schema = at(place.document, place.path), place.schema
    if "enum" in schema:
        yield from (one for one in schema["enum"] if one != value)
        yield from ("unknown", "", None, Raw(b"1"))
        return
    if isinstance(value, Raw):
        for number in hostile.NUMBERS:
            yield Raw(number.encode())
        for end, step in (("minimum", -1), ("maximum", 1), ("exclusiveMinimum", -1)):
            if end in schema:
                yield Raw(repr(schema[end]).encode())
                yield Raw(repr(schema[end] + step).encode())
                yield Raw(repr(schema[end] - step).encode())
        yield from ("1", None, [])
    elif isinstance(value, bool):
        yield from (not value, None, Raw(b"0"), "true")
    elif isinstance(value, str):
        yield from hostile_texts()
        yield from (Raw(b"1"), None, {})
    elif isinstance(value, list):
        yield []
        yield value + value
        yield value[:-1]
        yield value[::-1]
        yield value[:1] * 40
        yield [value]
        yield {}
        yield None
    elif isinstance(value, dict):
        yield {}
        yield []
        yield None
        for key in value:
            yield {other: member for other, member in value.items() if other != key}
        required = schema.get("properties", {})
        for key in [key for key in value if key not in required][:1]:  # a name that a user gave
            for text in list(hostile_texts()):
                yield renamed(value, key, text)
        yield {**value, "x-more": {"any": [1]}}
        yield {**value, "unknown": 1}
    else:
        yield from (Raw(b"0"), Raw(b"1e308"), "", {}, [])
