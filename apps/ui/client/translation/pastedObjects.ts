import { hasUserStatus, kindOf, parseOffline, Settings, unsupportedKind } from "@isthmus/api";
import { excessOf, fullKeyOf, InvalidResource, kindKeyOf, messageOf, type Resource } from "@isthmus/core";
import { YamlExcess, yamlDocuments } from "@isthmus/core/yaml";
import { t } from "../strings.ts";

/** What somebody typed, as far as it can be read. */
export interface PastedObjects {
  readonly objects: readonly Resource[];
  /** What cannot be read, and why. */
  readonly problems: readonly string[];
}

/** More text than this is not read. */
export const LONGEST_PASTE = 256 * 1024;
const MOST_OBJECTS = 50;

/** Reads policies in YAML or JSON, several with `---` between them. Only kinds that users write with a status; a namespace that is missing is `default`, as for kubectl. Never throws. */
export function pastedObjects(text: string): PastedObjects {
  if (text.length > LONGEST_PASTE) return { objects: [], problems: [t.whatIf.tooLong(LONGEST_PASTE / 1024)] };
  const objects = new Map<string, Resource>();
  const problems: string[] = [];
  for (const [i, { value, problem }] of valuesIn(text).entries()) {
    if (i >= MOST_OBJECTS) {
      problems.push(t.whatIf.tooMany(MOST_OBJECTS));
      break;
    }
    const read = problem ?? parsed(value);
    if (Array.isArray(read)) problems.push(...read.map((one: string) => t.whatIf.inDocument(i + 1, one)));
    else if (typeof read === "string") problems.push(t.whatIf.inDocument(i + 1, read));
    else {
      const key = fullKeyOf(read as Resource);
      if (objects.has(key)) problems.push(t.whatIf.inDocument(i + 1, t.whatIf.givenTwice));
      objects.set(key, read as Resource);
    }
  }
  return { objects: [...objects.values()], problems };
}

interface Value {
  readonly value?: unknown;
  readonly problem?: string;
}

function valuesIn(text: string): readonly Value[] {
  try {
    const documents = yamlDocuments(text, { prettyErrors: false, merge: true });
    return documents.flatMap((document): readonly Value[] => {
      const [error] = document.errors;
      if (error !== undefined) return [{ problem: `${error.message} (${t.whatIf.line(lineAt(text, error.pos[0]))})` }];
      try {
        const value: unknown = document.toJS();
        return value === null || value === undefined ? [] : [{ value }];
      } catch (problem) {
        // Aliases without an anchor, or so many that they would fill the memory.
        return [{ problem: messageOf(problem) }];
      }
    });
  } catch (error) {
    if (error instanceof YamlExcess) return [{ problem: error.message }];
    return [{ problem: messageOf(error) }];
  }
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

function parsed(value: unknown): Resource | string | readonly string[] {
  const excess = excessOf(value);
  if (excess !== undefined) return excess;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return t.whatIf.notAnObject;
  const { apiVersion, kind: name } = value as Readonly<Record<string, unknown>>;
  if (typeof apiVersion !== "string" || typeof name !== "string") return t.whatIf.notAnObject;
  const kind = kindOf(apiVersion, name);
  if (kind === undefined) return `${name}: ${unsupportedKind({ apiVersion, kind: name }).message}`;
  if (!hasUserStatus(kind) || kindKeyOf(kind) === kindKeyOf(Settings)) return t.whatIf.notAPolicy(name);
  try {
    const resource = parseOffline(kind, value);
    const { namespace = "", clusterName: _, ...metadata } = resource.metadata;
    return { ...resource, metadata: { ...metadata, namespace: namespace === "" ? "default" : namespace } };
  } catch (error) {
    if (error instanceof InvalidResource) return error.messages.length > 0 ? [...error.messages] : error.message;
    return messageOf(error);
  }
}
