import { InvalidArgumentError, Option } from "commander";
import type { LineSuppression } from "../offline/suppressions.ts";

/** `-S`, which can be repeated. */
export function suppressOption(what: string): Option {
  const description = `do not show ${what} with this code, or of it those about an object, as CODE=Kind name.namespace; * is any text; can be repeated; their number is printed`;
  return new Option("-S, --suppress <code(=object)>", description).argParser(
    (text: string, before: readonly LineSuppression[] | undefined): readonly LineSuppression[] => [...(before ?? []), suppression(text)],
  );
}

function suppression(text: string): LineSuppression {
  const at = text.indexOf("=");
  const [code, object] = at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
  if (code === "" || code.includes(" ") || object === "")
    throw new InvalidArgumentError("write CODE or 'CODE=Kind name.namespace', such as 'RES1002=Destination *.gloo-mesh'");
  return object === undefined ? { code } : { code, object };
}
