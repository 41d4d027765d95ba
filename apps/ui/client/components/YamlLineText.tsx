const LONGEST_VALUE = 4_000;

/** A line of YAML, with its key in another colour, cut where it is long. */
export function YamlLineText({ indent, name, value }: { readonly indent: string; readonly name: string; readonly value: string }) {
  return (
    <>
      {indent}
      <span className="yaml-key">{name}</span>
      {name !== "" && value !== "" ? " " : ""}
      {value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE)}…` : value}
      {"\n"}
    </>
  );
}
