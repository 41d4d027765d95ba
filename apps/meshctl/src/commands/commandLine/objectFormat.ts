import { UsageError } from "@isthmus/core";
import { InvalidArgumentError, Option } from "commander";
import { parseTemplate } from "../../output/jsonPath/parseTemplate.ts";
import type { Format } from "../../plane/printObjects.ts";

/** `-o` of commands that print objects, with the formats of `kubectl get`. */
export function objectFormatOption(): Option {
  return new Option("-o, --output <format>", "table, wide (more columns), yaml, json, name or jsonpath=TEMPLATE")
    .choices([...NAMES, TEMPLATE])
    .argParser(objectFormat)
    .default("table");
}

const NAMES = ["table", "wide", "yaml", "json", "name"] as const;
const TEMPLATE = "jsonpath=";
/** Other formats with which `kubectl get` selects parts of objects. */
const OTHERS = [
  ...["go-template", "go-template-file", "template", "templatefile", "jsonpath-file", "jsonpath-as-json"],
  ...["custom-columns", "custom-columns-file"],
];

/** What the option says; a template is read at once, before a cluster is asked. `-o=json` is how kubectl may be called. */
function objectFormat(argument: string): Format {
  const text = argument.startsWith("=") ? argument.slice(1) : argument;
  const named = NAMES.find((name) => name === text);
  if (named !== undefined) return named;
  if (!text.startsWith(TEMPLATE)) {
    const other = OTHERS.find((name) => name === text || text.startsWith(`${name}=`));
    const instead =
      other === undefined
        ? ""
        : ` ${other} is only in kubectl: write jsonpath='{range .items[*]}{.metadata.name}{"\\n"}{end}', or pass -o json to jq.`;
    throw new InvalidArgumentError(`Allowed choices are ${NAMES.join(", ")}, ${TEMPLATE}TEMPLATE.${instead}`);
  }
  if (text === TEMPLATE) throw new InvalidArgumentError("a template is missing, such as jsonpath='{.items[*].metadata.name}'");
  try {
    return { jsonPath: parseTemplate(text.slice(TEMPLATE.length)) };
  } catch (error) {
    if (error instanceof UsageError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
