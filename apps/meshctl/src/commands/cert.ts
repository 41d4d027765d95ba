import { UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { Command, Option } from "commander";
import { answered, inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { readUserConfig } from "../cluster/userConfig.ts";
import type { CertFormat } from "../plane/certificates/certificateText.ts";
import type { Entry } from "../plane/certificates/entries.ts";
import { ADMIN_HELP, type AdminFlags, adminPages, checkAdminFlags, withAdmin } from "./adminOptions.ts";
import { terminalColumns } from "./commandLine/terminal.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { doneOrTried, dryRunOption } from "./dryRun.ts";

interface CertOptions extends ManagementTarget, AdminFlags {
  readonly output: CertFormat;
}

interface RotateOptions extends CertOptions {
  readonly plan?: true;
  readonly abort?: true;
  readonly leave: readonly string[];
  readonly yes?: true;
  readonly dryRun?: true;
  readonly workloadContext: readonly string[];
}

/** `meshctl cert`: every certificate and token of the fleet, and other ones on demand. */
export function certCommand(runtime: CommandRuntime): Command {
  const group = new Command("cert").description("Show and rotate certificates and tokens of the fleet. Private keys are never read.");
  group.addCommand(
    inCert(new Command("list"))
      .description("Print every certificate and token with its expiry, its state, and who renews it; first those that need somebody.")
      .addHelpText("after", LIST_HELP)
      .action((options: CertOptions) => printList(options, runtime)),
  );
  group.addCommand(
    inCert(new Command("inspect").argument("<name>", "name as in meshctl cert list, with or without its use"))
      .description("Print what one certificate says.")
      .addHelpText("after", INSPECT_HELP)
      .action((name: string, options: CertOptions) => inspect(name, options, runtime)),
  );
  group.addCommand(
    inCert(new Command("rotate").argument("<name>", "meshIntermediate/MESH or meshRoot/SECRET, as in meshctl cert list"))
      .description("Have the CA of a mesh issued again, or move the meshes of a VirtualMesh to another generated root.")
      .option("--plan", "only print what will restart, how long it takes, and what blocks it")
      .option("--abort", "go back to the root before, as long as every mesh still trusts it")
      .option(
        "--leave <namespace/workload>",
        "continue a running change of root without this workload of the mesh; says what it costs, and asks; can be repeated",
        collect,
        [],
      )
      .option("-y, --yes", "do not ask, with --leave")
      .option(
        "--workload-context <cluster=context>",
        "context of a cluster, to read its PodDisruptionBudgets; can be repeated; default: those of meshctl config view",
        collect,
        [],
      )
      .addOption(dryRunOption())
      .addHelpText("after", ROTATE_HELP)
      .action((name: string, options: RotateOptions) => rotate(name, options, runtime)),
  );
  return group;
}

function inCert(command: Command): Command {
  const output = new Option("-o, --output <format>", "table, json or yaml").choices(["table", "json", "yaml"] satisfies CertFormat[]);
  return withAdmin(inManagement(command)).addOption(output.default("table"));
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

async function readEntries(options: CertOptions, runtime: CommandRuntime) {
  checkAdminFlags(options);
  const { entriesIn, mergedEntries } = await import("../plane/certificates/entries.ts");
  const { pages, isComplete } = await adminPages(runtime, options, { program: "server", path: "/certificates" });
  return { entries: mergedEntries(pages.map(entriesIn)), isComplete };
}

function textOptions({ output }: CertOptions, { io, now }: CommandRuntime) {
  return { format: output, now: now(), ...(io.columns === undefined ? {} : { width: io.columns }) };
}

async function printList(options: CertOptions, runtime: CommandRuntime): Promise<void> {
  const { io, finish } = runtime;
  const { entries, isComplete } = await readEntries(options, runtime);
  const { listText } = await import("../plane/certificates/certificateText.ts");
  await io.out(listText(entries, textOptions(options, runtime)));
  const count = (...states: readonly string[]) => entries.filter(({ state }) => states.includes(state)).length;
  const [due, unknown] = [count("EXPIRING", "EXPIRED"), count("UNKNOWN")];
  io.note(`${entries.length} certificates and tokens: ${due} expired or to be renewed now, ${unknown} unknown\n`);
  finish(due > 0 ? 1 : isComplete && unknown === 0 ? 0 : 3);
}

async function inspect(name: string, options: CertOptions, runtime: CommandRuntime): Promise<void> {
  const { entries, isComplete } = await readEntries(options, runtime);
  const { namedEntry } = await import("../plane/certificates/entries.ts");
  const { inspectText } = await import("../plane/certificates/certificateText.ts");
  const entry = namedEntry(entries, name);
  await runtime.io.out(inspectText(entry, textOptions(options, runtime)));
  runtime.finish(isDue(entry) ? 1 : isComplete && entry.state !== "UNKNOWN" ? 0 : 3);
}

function isDue({ state }: Entry): boolean {
  return state === "EXPIRING" || state === "EXPIRED";
}

async function rotate(name: string, options: RotateOptions, runtime: CommandRuntime): Promise<void> {
  const { io, connect, now, finish } = runtime;
  const { plan: isPlan, abort: isAbort, leave, yes, dryRun, workloadContext, ...others } = options;
  const { adminAddress: _, adminTokenFile: __, output: ___, ...place } = others;
  const contexts = contextsIn(workloadContext);
  if ([isPlan === true, isAbort === true, leave.length > 0].filter(Boolean).length > 1)
    throw new UsageError("--plan, --abort and --leave exclude each other");
  if (yes === true && leave.length === 0) throw new UsageError("--yes needs --leave: nothing else is asked");
  const { entries } = await readEntries(options, runtime);
  const { namedEntry } = await import("../plane/certificates/entries.ts");
  const entry = namedEntry(entries, name);
  if (isPlan === true) {
    const { clusters } = await readUserConfig();
    return printPlan(entry, entries, { options, contexts: new Map([...clusters, ...contexts]) }, runtime);
  }
  if (contexts.size > 0) throw new UsageError("--workload-context needs --plan");
  const { rotateCertificate } = await import("../plane/certificates/rotateCertificate.ts");
  const { abortRotation } = await import("../plane/certificates/abortRotation.ts");
  const leaving = leave.length === 0 ? undefined : await agreedLeaving(entry, { entries, leave }, { dryRun, yes }, runtime);
  const { leaveWorkloads } = await import("../plane/certificates/leaveWorkloads.ts");
  const order = (cluster: Cluster, signal: AbortSignal): Promise<string> =>
    leaving !== undefined
      ? leaveWorkloads(cluster, leaving, signal)
      : isAbort === true
        ? abortRotation(cluster, entry, entries, signal)
        : rotateCertificate(cluster, entry, { entries, now: now() }, signal);
  let ordered = "";
  const isDone = await doneOrTried(io, dryRun, async (within) => {
    ordered = await inManagementCluster(place, connect, (cluster, signal) => order(within(cluster), signal));
  });
  if (isDone) io.note(`${ordered}\nIt is ordered, and not done yet: the status of the VirtualMesh says how far each mesh is.\n`);
  finish(0);
}

/** Says what leaving workloads out costs, and asks. Throws UsageError unless the user agrees. */
async function agreedLeaving(
  entry: Entry,
  { entries, leave }: { readonly entries: readonly Entry[]; readonly leave: readonly string[] },
  { dryRun, yes }: { readonly dryRun: true | undefined; readonly yes: true | undefined },
  { io }: CommandRuntime,
) {
  const { leavingOf } = await import("../plane/certificates/leaveWorkloads.ts");
  const { wrapped } = await import("../output/fit.ts");
  const leaving = leavingOf(entry, entries, leave);
  const columns = io.columns ?? terminalColumns();
  io.err(leaving.costs.map((line) => `${wrapped(line, columns).join("\n")}\n`).join(""));
  if (dryRun === true || yes === true) return leaving;
  if (io.ask === undefined) throw new UsageError("nothing was ordered: this is no terminal to ask on: add --yes");
  if (!(await io.ask("Leave them out?"))) throw new UsageError("nothing was ordered");
  return leaving;
}

async function printPlan(
  entry: Entry,
  entries: readonly Entry[],
  { options, contexts }: { readonly options: RotateOptions; readonly contexts: ReadonlyMap<string, string> },
  runtime: CommandRuntime,
): Promise<void> {
  const { use, virtualMesh, next } = entry;
  const name = `${use}/${entry.name}`;
  if (use !== "meshRoot" && use !== "meshIntermediate") throw new UsageError(`${name} is not rotated by this command: ${next}`);
  if (virtualMesh === undefined) throw new UsageError(`${name} is used by no VirtualMesh: there is nothing to rotate`);
  const { blockingBudgets } = await import("../cluster/disruptionBudgets.ts");
  const { rotationPlan } = await import("../plane/certificates/rotationPlan.ts");
  const { planText } = await import("../plane/certificates/planText.ts");
  const budgets = new Map<string, readonly string[]>();
  for (const [clusterName, context] of contexts) {
    const controlPlanes = entries.flatMap(({ cluster, forecast }) =>
      forecast === undefined || cluster !== clusterName
        ? []
        : [{ namespace: forecast.controlPlaneNamespace, labels: forecast.controlPlaneLabels }],
    );
    const { kubeconfig, namespace, requestTimeout } = options;
    const place = {
      namespace,
      context,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(requestTimeout === undefined ? {} : { requestTimeout }),
    };
    const cluster = await runtime.connect(place);
    budgets.set(clusterName, await answered(`cluster ${clusterName}`, place, (signal) => blockingBudgets(cluster, controlPlanes, signal)));
  }
  const plan = rotationPlan(entry, entries, budgets);
  await runtime.io.out(planText(plan, textOptions(options, runtime)));
  runtime.finish(plan.meshes.some(({ blockers }) => blockers.length > 0) ? 1 : plan.isComplete ? 0 : 3);
}

/** Throws UsageError. */
function contextsIn(texts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at < 1 || at === text.length - 1)
        throw new UsageError(`--workload-context ${text}: give CLUSTER=CONTEXT, such as east=admin@east`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

const LIST_HELP = `${ADMIN_HELP}

States: VALID; EXPIRING, its renewal is overdue; EXPIRED; NO_EXPIRY; UNKNOWN, nobody reports it.

Exit codes: 0 all are valid, 1 some have expired or have to be renewed now, 2 usage error or no answer, 3 some are unknown, or some
replicas have not answered.

Examples:
  meshctl cert list
  meshctl cert list -o json --context mgmt`;

const INSPECT_HELP = `
Exit codes: as of meshctl cert list, for this certificate.

Examples:
  meshctl cert inspect meshRoot/bookinfo.gloo-mesh
  meshctl cert inspect istiod-istio-system-east -o yaml`;

const ROTATE_HELP = `
A CA is issued again below the same root, and nothing restarts. Another generated root is taken over in three rounds, in each of which istiod
and all workloads with a proxy restart; the root before stays in its Secret, and --abort goes back to it, before the last round. A root of
your own you rotate by naming another Secret; --abort goes back to the one that annotation isthmus.mesh/previous-roots names.

A workload that cannot restart holds the change up, such as by a PodDisruptionBudget that allows nothing. With --leave the change continues
without it, and calls to and from its pods fail as is said before you are asked, until you restart them.

Exit codes: 0 ordered, or with --plan nothing blocks; 1 with --plan: something blocks; 2 usage error, no answer, or not confirmed; 3 with
--plan: nothing that was looked at blocks, and budgets of some clusters were not looked at.

Examples:
  meshctl cert rotate meshRoot/bookinfo.gloo-mesh --plan --workload-context east=east --workload-context west=west
  meshctl cert rotate meshRoot/bookinfo.gloo-mesh
  meshctl cert rotate meshRoot/bookinfo.gloo-mesh.root-2 --abort
  meshctl cert rotate meshIntermediate/istiod-istio-system-east
  meshctl cert rotate meshIntermediate/istiod-istio-system-east --leave bookinfo/ratings-v1`;
