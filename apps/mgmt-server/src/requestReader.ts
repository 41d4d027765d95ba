import { excessOf } from "@isthmus/core";
import { PageRefusal } from "@isthmus/process";

/** Reads the JSON body of a page of the admin port. Each function throws the PageRefusal that `refused` makes, with an example of what is understood. */
export interface RequestReader {
  /** The members of the body; none where it is empty. */
  body(content: string, members: readonly string[]): Readonly<Record<string, unknown>>;
  /** An object that has these members and no others: one that is not understood might have narrowed what is asked for. */
  closed(value: unknown, members: readonly string[]): Readonly<Record<string, unknown>>;
  textsIn(value: unknown, name: string): readonly string[];
  refused(why: string): PageRefusal;
}

/** `what` is said not to be understood, such as "the selection". */
export function requestReader(what: string, example: string): RequestReader {
  const refused = (why: string) => new PageRefusal(400, `${what} is not understood: ${why}; write it like ${example}`);

  function closed(value: unknown, members: readonly string[]): Readonly<Record<string, unknown>> {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw refused("it is no object");
    if (!Object.keys(value).every((name) => members.includes(name))) throw refused(`only ${members.join(", ")} may stand there`);
    return value as Readonly<Record<string, unknown>>;
  }

  function parsed(content: string): unknown {
    let value: unknown;
    try {
      value = JSON.parse(content);
    } catch {
      throw refused("it is no JSON");
    }
    if (excessOf(value) !== undefined) throw refused("it is too deep");
    return value;
  }

  return {
    refused,
    closed,
    body: (content, members) => closed(content.trim() === "" ? {} : parsed(content), members),
    textsIn(value, name) {
      if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) throw refused(`${name} is no list of texts`);
      return value;
    },
  };
}
