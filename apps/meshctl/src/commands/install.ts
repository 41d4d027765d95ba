import { UsageError } from "@isthmus/core";
import { Argument, Command, Option } from "commander";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { plainText } from "../output/plainText.ts";
import { type ChartValuesOptions, givenChartValues, withChartValues } from "./chartValues.ts";
import { type RefusedFlag, withRefusedFlags } from "./commandLine/publishedFlags.ts";
import { terminalColumns } from "./commandLine/terminal.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { durationOption } from "./duration.ts";

interface InstallOptions extends ManagementTarget, ChartValuesOptions {
  readonly dryRun?: true;
  readonly wait: boolean;
  readonly rollback?: true;
  readonly timeout: number;
}

/** `meshctl install`: CRDs and the management server, as the charts have them with their defaults. */
export function installCommand({ io, connect, connectApiServer, catchInterrupts, runHelm }: CommandRuntime): Command {
  const edition = new Argument("[edition]", "community or enterprise, as in earlier versions: there is one edition");
  const command = new Command("install").addArgument(edition.choices(["community", "enterprise"]));
  withRefusedFlags(inManagement(command, { requestTimeout: false }), REFUSED);
  return (
    withChartValues(command, "gloo-mesh-mgmt-server", "--chart-values-file <file>")
      // Of the published command, which has one name for it.
      .addOption(new Option("--release-name <name>").choices(["gloo-mesh"]).hideHelp())
      .description("Install the management plane, or upgrade one that meshctl installed, and wait until agents can connect to it.")
      .option("-d, --dry-run", "let the API server check what would be applied, print it, and change nothing")
      .option("--no-wait", "do not wait until the server runs")
      .option("--rollback", "if the installation fails, delete what this run created, and restore what it changed")
      .addOption(durationOption("--timeout <duration>", "how long to wait", "5m"))
      .addHelpText("after", HELP)
      .action(async (_: string | undefined, { dryRun, wait, rollback, timeout, values, set, resetValues, ...place }: InstallOptions) => {
        const { namespace } = place;
        if (dryRun === true && rollback === true) throw new UsageError("--rollback and --dry-run are mutually exclusive");
        const given = await givenChartValues(
          { ...(values && { values }), ...(set && { set }), ...(resetValues && { resetValues }) },
          runHelm,
        );
        const { installPlane, previewInstallation } = await import("../cluster/install/installPlane.ts");
        const { planeProblems } = await import("../plane/precheck/planePrecheck.ts");
        const { gateText } = await import("../cluster/register/gateText.ts");
        const { helmCommands, hintsIn } = await import("../cluster/register/hints.ts");
        const { namedCluster } = await import("../cluster/namedCluster.ts");
        const { systemClock } = await import("@isthmus/plane/clock");
        const columns = io.columns ?? terminalColumns();
        const hints = hintsIn(place);
        const api = await connectApiServer(place);
        await inManagementCluster(place, connect, async (management) => {
          const installation = {
            cluster: namedCluster(management, "management cluster"),
            namespace,
            ...given,
            precheck: (needs: Parameters<typeof planeProblems>[2]) => planeProblems(api, namespace, needs),
            waits: wait,
            timeoutMs: timeout,
            rollback: rollback === true,
            interrupt: catchInterrupts(),
            hints,
            clock: systemClock,
            passed: (result: Parameters<typeof gateText>[0]) =>
              io.note(`${gateText({ ...result, text: plainText(result.text) }, columns)}\n`),
            progress: (text: string) => io.progress(plainText(text)),
            say: (line: string) => io.note(`${line}\n`),
          };
          if (dryRun !== true) return installPlane(installation);
          const lines = await previewInstallation(installation);
          await io.out(lines.map((line) => `${line}\n`).join(""));
        });
        if (dryRun === true)
          io.note(
            `Nothing was changed (--dry-run). The same with Helm:\n${helmCommands(place, given.values)
              .map((command) => `  ${command}\n`)
              .join("")}`,
          );
        else {
          const register = hints.acrossClusters("cluster", "register", "NAME", "--remote-context", "CONTEXT");
          io.note(`The management plane is installed in namespace ${namespace}. To register a cluster:\n  ${register}\n`);
        }
      })
  );
}

const AGENTS = "no agent is installed by it: run meshctl cluster register NAME afterwards";

const REFUSED: readonly RefusedFlag[] = [
  ["--chart-file <file>", "the chart is part of meshctl: leave it out, or install the chart with Helm"],
  ["--version <version>", "meshctl installs its own version: use meshctl of that version"],
  ["--license <key>", "none is needed: leave it out"],
  ["--skip-ui", "the UI is part of the server: leave it out"],
  ["--include-rbac", "there is no such webhook: use the roles of Kubernetes, and leave it out"],
  ["-r, --register", AGENTS],
  ["--cluster-name <name>", AGENTS],
  ["--cluster-domain <domain>", AGENTS],
  ["--relay-server-address <address>", AGENTS],
  ["--api-server-address <address>", AGENTS],
  ["--enterprise-agent-chart-file <file>", AGENTS],
  ["--enterprise-agent-chart-values <file>", AGENTS],
  ["--agent-crds-chart-file <file>", AGENTS],
  ["--cert-agent-chart-file <file>", AGENTS],
  ["--cert-agent-chart-values <file>", AGENTS],
];

const HELP = `
Applies what the charts in deploy/helm contain with their default values. For other values, --values and --set need Helm on this machine, which renders the chart
that is part of meshctl; a later run must repeat them. An installation by Helm is never changed.
CRDs that others have created stay as they are. Can be repeated. --rollback keeps a CRD or a namespace with something in it, and says so.

Exit codes: 0 installed, 2 usage error, no answer, or a gate did not open, 124 a gate did not open within --timeout, 130
interrupted (Ctrl-C): with --rollback after taking back what this run made; a second Ctrl-C ends at once.

Examples:
  meshctl install --context mgmt

  # Images of a registry of your own
  meshctl install --context mgmt --set image.registry=registry.example.com/mesh --set image.pullSecrets={registry-login}

  # What would be applied
  meshctl install --context mgmt --dry-run`;
