import { abortedAfter } from "@isthmus/core";
import { Command } from "commander";
import type { Connect, ManagementTarget } from "../cluster/managementCluster.ts";
import { readUserConfig, SETTINGS } from "../cluster/userConfig.ts";
import { NAMES_COMMAND } from "../output/completion.ts";
import { PRINTED_KINDS } from "../plane/kinds.ts";
import type { CommandRuntime } from "./commandRuntime.ts";

/**
 * What a shell calls for the names that may follow: `meshctl __names KIND WORDS…`, with the words of the line so far. It prints nothing else, not
 * even an error, ends with 0 and takes `NAMES_MS` at most: it runs while somebody types.
 */
export function namesCommand({ io, connect, leave }: CommandRuntime): Command {
  return new Command(NAMES_COMMAND)
    .argument("<kind>")
    .argument("[words...]")
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (kind: string, words: readonly string[]) => {
      const names = await namesFor(kind, words, connect);
      await io.out(names.map((name) => `${name}\n`).join(""));
      leave?.();
    });
}

/** The names of a kind in the cluster that a line names, within `NAMES_MS`; none where they cannot be read. */
export async function namesFor(kind: string, words: readonly string[], connect: Connect): Promise<readonly string[]> {
  const limit = abortedAfter(NAMES_MS);
  const late = new Promise<readonly string[]>((resolve) => limit.addEventListener("abort", () => resolve([])));
  return Promise.race([namesOrNone(kind, words, connect, limit), late]);
}

async function namesOrNone(name: string, words: readonly string[], connect: Connect, limit: AbortSignal): Promise<readonly string[]> {
  try {
    const kinds = PRINTED_KINDS.find((printed) => printed.name === name)?.kinds;
    const place = await placeOf(words);
    if (kinds === undefined || place === undefined) return [];
    const { namesOfKinds } = await import("../plane/namesOfKinds.ts");
    return await namesOfKinds(await connect(place), kinds, limit);
  } catch {
    // A shell has no place for it; the command itself will say it.
    return [];
  }
}

// Longer than an API server takes to answer, shorter than a person waits for a key.
const NAMES_MS = 2_000;

/** The cluster that a line names; undefined where it cannot be known, as of words that the shell would still replace. */
async function placeOf(words: readonly string[]): Promise<ManagementTarget | undefined> {
  const given = new Map<string, string>();
  for (const [i, word] of words.entries()) {
    const [, option = "", value = words[i + 1]] = /^--(kubeconfig|context|kubecontext)(?:=(.*))?$/.exec(word) ?? [];
    if (option === "") continue;
    // bash gives the sign as a word of its own.
    const text = value === "=" ? words[i + 2] : value;
    if (text === undefined || !PLAIN.test(text)) return undefined;
    given.set(option, text);
  }
  const { settings } = await readUserConfig();
  const kubeconfig = given.get("kubeconfig");
  const byUser = kubeconfig === undefined;
  const file = kubeconfig ?? (settings.kubeconfig?.from === SETTINGS.kubeconfig.variable ? undefined : settings.kubeconfig?.value);
  const context = given.get("context") ?? given.get("kubecontext") ?? (byUser ? settings.context?.value : undefined);
  return {
    namespace: "",
    requestTimeout: NAMES_MS,
    ...(file === undefined ? {} : { kubeconfig: file }),
    ...(context === undefined ? {} : { context }),
  };
}

const PLAIN = /^[A-Za-z0-9_./@:+-]+$/;
