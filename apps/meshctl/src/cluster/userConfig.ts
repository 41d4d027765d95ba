import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileProblem, nearestName, UsageError } from "@isthmus/core";

/** What a user has set for all commands: variables before the file. */
export interface UserConfig {
  /** The file that counts, whether or not there is one; undefined: MESHCTL_CONFIG is empty, so none does. */
  readonly file: string | undefined;
  readonly settings: Readonly<Partial<Record<SettingName, Setting>>>;
  /** The contexts of workload clusters, by the name under which each is registered. */
  readonly clusters: ReadonlyMap<string, string>;
}

/** A setting, and where it is from. */
export interface Setting {
  readonly value: string;
  /** The variable or the file. */
  readonly from: string;
}

/** `kubeconfig`, `context`: of the management cluster; `namespace`: of the management plane there. */
export type SettingName = "kubeconfig" | "context" | "namespace";

/** What commands use where no option, variable or file says something else; undefined: what kubectl uses. */
export const SETTINGS: Readonly<Record<SettingName, { readonly variable: string; readonly fallback: string | undefined }>> = {
  kubeconfig: { variable: "KUBECONFIG", fallback: undefined },
  context: { variable: "MESHCTL_CONTEXT", fallback: undefined },
  namespace: { variable: "MESHCTL_NAMESPACE", fallback: "gloo-mesh" },
};

/**
 * Reads MESHCTL_CONFIG, else `meshctl/config.yaml` in XDG_CONFIG_HOME, else in ~/.config. Only a file that MESHCTL_CONFIG names has to exist. Throws UsageError, which
 * names file, field and remedy.
 */
export async function readUserConfig(env: NodeJS.ProcessEnv = process.env): Promise<UserConfig> {
  const named = env["MESHCTL_CONFIG"];
  const home = env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config");
  const file = named ?? join(home, "meshctl", "config.yaml");
  const content = file === "" ? undefined : contentOf(file, { isNamed: named !== undefined });
  const { clusters, ...own } = content === undefined ? NO_CONTENT : checked(await parsed(content, file), file);
  const settings: Partial<Record<SettingName, Setting>> = {};
  for (const [name, { variable }] of entriesOf(SETTINGS)) {
    const [fromEnv = "", fromFile] = [env[variable], own[name]];
    if (fromEnv !== "") settings[name] = { value: fromEnv, from: variable };
    else if (fromFile !== undefined) settings[name] = { value: fromFile, from: file };
  }
  return { file: file === "" ? undefined : file, settings, clusters };
}

interface Content extends Readonly<Partial<Record<SettingName, string>>> {
  readonly clusters: ReadonlyMap<string, string>;
}

const NO_CONTENT: Content = { clusters: new Map() };

/** Undefined: there is no such file. */
function contentOf(file: string, { isNamed }: { readonly isNamed: boolean }): string | undefined {
  try {
    const { size } = statSync(file);
    if (size > MOST_BYTES) throw new UsageError(`${file}: has ${size} bytes; a configuration has ${MOST_BYTES} at most`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (!isNamed && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
    throw new UsageError(`${file}: ${fileProblem(error)}: correct the file, or the variable MESHCTL_CONFIG`);
  }
}

async function parsed(text: string, file: string): Promise<unknown> {
  // Only where there is a file: it takes as long as all else at the start.
  const { parse, YAMLParseError } = await import("yaml");
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch (error) {
    if (!(error instanceof YAMLParseError || error instanceof ReferenceError)) throw error;
    throw new UsageError(`${file}: is not YAML: ${error.message.split("\n", 1)[0]}`);
  }
}

function checked(content: unknown, file: string): Content {
  if (content === null || content === undefined) return NO_CONTENT;
  const fields = fieldsOf(content, file, "");
  for (const name of fields.keys()) {
    if (NAMES.includes(name)) continue;
    const nearest = nearestName(name, NAMES);
    throw new UsageError(
      `${file}: ${name}: is no setting: ${nearest === undefined ? `use ${NAMES.join(", ")}` : `did you mean ${nearest}?`}`,
    );
  }
  const clusters = fields.has("clusters") ? fieldsOf(fields.get("clusters"), file, "clusters") : new Map<string, unknown>();
  const texts = [...SETTING_NAMES].flatMap((name) => (fields.has(name) ? [[name, textOf(fields.get(name), file, name)] as const] : []));
  return {
    ...Object.fromEntries(texts),
    clusters: new Map([...clusters].map(([name, value]) => [name, textOf(value, file, `clusters.${name}`)])),
  };
}

function fieldsOf(value: unknown, file: string, path: string): ReadonlyMap<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return new Map(Object.entries(value));
  throw new UsageError(`${file}: ${path === "" ? "" : `${path}: `}is no map of names: write it like "clusters: {east: CONTEXT}"`);
}

function textOf(value: unknown, file: string, path: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new UsageError(`${file}: ${path}: is no text: write it like "${path.split(".", 1)[0]}: NAME"`);
}

/** The members of a record whose keys are known. */
function entriesOf<K extends string, V>(record: Readonly<Record<K, V>>): readonly (readonly [K, V])[] {
  return Object.entries(record) as unknown as readonly (readonly [K, V])[];
}

const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];
const NAMES: readonly string[] = [...SETTING_NAMES, "clusters"];
const MOST_BYTES = 65_536;
