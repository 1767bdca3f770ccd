"""Checks data against a JSON Schema. Supports only the parts that schema.json uses."""

# The largest number: 1e999 is parsed as infinity.
MOST = 1e30

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "number": (int, float), "integer": int}


def _is(data, name):
    if isinstance(data, bool):
        return name == "boolean"
    if name == "integer" and isinstance(data, float):
        return data.is_integer()
    return isinstance(data, TYPES[name])


def _object(data, schema, root, where):
    for name in schema.get("required", []):
        if name not in data:
            yield where, f"{name!r} is missing"
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, value in data.items():
        inner = known.get(name, others)
        if inner is False:
            yield where, f"{name!r} is unknown"
        elif inner is not True:
            yield from errors(value, inner, root, f"{where}/{name}")


def errors(data, schema, root, where=""):
    """Yields (where, what) for every error."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        if sum(not any(errors(data, one, root)) for one in schema["oneOf"]) != 1:
            yield where, f"{str(data)[:80]} is not one of the allowed forms"
        return
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_is(data, name) for name in types):
        yield where, f"{str(data)[:80]} is not of type {' or '.join(types)}"
        return
    allowed = [schema["const"]] if "const" in schema else schema.get("enum", [])
    if allowed and data not in allowed:
        yield where, f"{data!r} is not one of {allowed}"
    if isinstance(data, dict):
        yield from _object(data, schema, root, where)
    elif isinstance(data, list):
        if len(data) < schema.get("minItems", 0):
            yield where, f"has {len(data)} elements, at least {schema['minItems']} are needed"
        for i, value in enumerate(data):
            yield from errors(value, schema.get("items", {}), root, f"{where}/{i}")
    elif isinstance(data, (int, float)) and not isinstance(data, bool):
        if not (schema.get("minimum", -MOST) <= data <= schema.get("maximum", MOST) and
                ("exclusiveMinimum" not in schema or data > schema["exclusiveMinimum"])):
            yield where, f"{data} is out of range"
