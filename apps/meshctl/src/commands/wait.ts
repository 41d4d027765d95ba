import { nearestName, UsageError } from "@isthmus/core";
import { Command, InvalidArgumentError, Option } from "commander";
import { answered, type ManagementTarget } from "../cluster/managementCluster.ts";
import { parseTemplate } from "../output/jsonPath/parseTemplate.ts";
import { PRINTED_KINDS } from "../plane/kinds.ts";
import type { Awaited, WaitTarget } from "../plane/waitFor.ts";
import { examples } from "./commandLine/helpText.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { durationOption } from "./duration.ts";

interface WaitOptions extends Omit<ManagementTarget, "namespace"> {
  readonly for: Awaited;
  readonly timeout: number;
  readonly all?: true;
  readonly namespace?: string;
}

/** `meshctl wait`: with the words of `kubectl wait`. */
export function waitCommand(runtime: CommandRuntime): Command {
  const command = new Command("wait")
    .description(
      "Wait until objects have a condition, as kubectl wait does: what was applied is accepted, delivered and applied in the clusters.",
    )
    .argument("<object...>", "KIND/NAME, KIND/NAMESPACE/NAME, or KIND NAME…; kinds are those of meshctl get")
    .addOption(
      new Option("--for <state>", "condition=NAME[=VALUE], create, delete, or jsonpath={TEMPLATE}[=VALUE]")
        .argParser(awaitedOf)
        .makeOptionMandatory(),
    )
    .addOption(durationOption("--timeout <duration>", "how long to wait; 0s looks once", "30s"))
    .option("--all", "all objects of the kinds that there are when the wait begins")
    .option("-n, --namespace <name>", "only objects of this namespace; default: all namespaces")
    .addHelpText("after", HELP);
  return inManagement(command, { namespaceOption: false })
    .allowExcessArguments(true)
    .action(async (words: readonly string[], { for: until, timeout, all, namespace, ...given }: WaitOptions) => {
      const targets = waitTargets(words, all === true);
      const place = { namespace: "", ...given };
      const signal = runtime.catchInterrupts();
      const [{ waitFor }, { systemClock }, cluster] = await Promise.all([
        import("../plane/waitFor.ts"),
        import("@isthmus/plane/clock"),
        runtime.connect(place),
      ]);
      const selection = namespace === undefined ? {} : { namespace };
      await waitFor(
        targets,
        { io: runtime.io, cluster, clock: systemClock, selection, until, timeoutMs: timeout },
        (read) => answered("management cluster", place, (within) => read(AbortSignal.any([within, signal]))),
        signal,
      );
    });
}

/** What `--for` says. */
function awaitedOf(text: string): Awaited {
  if (text === "create" || text === "delete") return { is: text };
  const [, type, value = "true"] = /^condition=([^=]+)(?:=(.+))?$/.exec(text) ?? [];
  if (type !== undefined) return { is: "condition", type, value };
  const [, path, wanted] = /^jsonpath=(\{.*\})(?:=(.+))?$/.exec(text) ?? [];
  if (path === undefined)
    throw new InvalidArgumentError(
      "Write condition=Applied, condition=Accepted=False, create, delete or jsonpath='{.status.state}'=ACCEPTED.",
    );
  try {
    return { is: "jsonpath", path: parseTemplate(path), value: wanted };
  } catch (error) {
    if (error instanceof UsageError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}

/** `KIND/NAME` each, or one kind and its names. Throws UsageError for a kind that there is not, and where names are missing. */
function waitTargets(words: readonly string[], isAll: boolean): readonly WaitTarget[] {
  const [first = "", ...names] = words;
  if (!first.includes("/")) {
    if (names.length === 0 && !isAll) throw new UsageError(`name what to wait for: ${first}/NAME, or --all`);
    if (names.length > 0 && isAll) throw new UsageError("--all and names are mutually exclusive");
    return [{ kinds: kindsOf(first), names }];
  }
  if (isAll) throw new UsageError("--all and names are mutually exclusive");
  return words.map((word) => {
    const [kind = "", ...name] = word.split("/");
    if (name.length === 0 || name.length > MOST_PARTS || name.includes(""))
      throw new UsageError(`${word}: write KIND/NAME or KIND/NAMESPACE/NAME`);
    return { kinds: kindsOf(kind), names: [name.join("/")] };
  });
}

// Namespace and name.
const MOST_PARTS = 2;

/** The kinds of a name of `meshctl get`, or of kubectl's form `KIND.GROUP`. */
function kindsOf(text: string): WaitTarget["kinds"] {
  const [name = ""] = text.toLowerCase().split(".");
  const found = PRINTED_KINDS.find((printed) => printed.name === name || printed.aliases.includes(name));
  if (found !== undefined) return found.kinds;
  const names = PRINTED_KINDS.flatMap((printed) => [printed.name, ...printed.aliases]);
  const near = nearestName(name, names);
  throw new UsageError(
    `there is no kind ${text}${near === undefined ? "" : ` (did you mean ${near}?)`}: kinds are ${PRINTED_KINDS.map((printed) => printed.name).join(", ")}`,
  );
}

const HELP = `
docs/reference/conditions.md says what each condition means. One that is about an earlier generation of the object counts as not there.

Exit codes: 0 all objects are as they should be, 2 usage error, no such object, no answer, or no permission, 124 not within --timeout: what each object
says instead is printed, 130 interrupted.${examples(
  "# After kubectl apply: until the API servers of the clusters have what follows from a policy",
  "meshctl wait trafficpolicy/bookinfo/reviews-shift --for=condition=Applied --timeout=2m",
  "",
  "meshctl wait clusters --all --for=jsonpath='{.status.state}'=CONNECTED",
  "meshctl wait virtualmesh/bookinfo -n gloo-mesh --for=condition=TrustInForce --timeout=10m",
)}`;
