import { UsageError } from "@isthmus/core";
import { Command } from "commander";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { plainText } from "../output/plainText.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { durationOption } from "./duration.ts";
import { terminalColumns } from "./terminal.ts";

interface InstallOptions extends ManagementTarget {
  readonly dryRun?: true;
  readonly wait: boolean;
  readonly rollback?: true;
  readonly timeout: number;
}

/** `meshctl install`: CRDs and the management server, as the charts have them with their defaults. */
export function installCommand({ io, connect, connectApiServer, catchInterrupts }: CommandRuntime): Command {
  return inManagement(new Command("install"), { requestTimeout: false })
    .description("Install the management plane, or upgrade one that meshctl installed, and wait until agents can connect to it.")
    .option("--dry-run", "let the API server check what would be applied, print it, and change nothing")
    .option("--no-wait", "do not wait until the server runs")
    .option("--rollback", "if the installation fails, delete what this run created, and restore what it changed")
    .addOption(durationOption("--timeout <duration>", "how long to wait", "5m"))
    .addHelpText("after", HELP)
    .action(async ({ dryRun, wait, rollback, timeout, ...place }: InstallOptions) => {
      const { namespace } = place;
      if (dryRun === true && rollback === true) throw new UsageError("--rollback and --dry-run are mutually exclusive");
      const { installPlane, previewInstallation } = await import("../cluster/install/installPlane.ts");
      const { planeProblems } = await import("../plane/precheck/planePrecheck.ts");
      const { gateText } = await import("../cluster/register/gateText.ts");
      const { hintsIn } = await import("../cluster/register/hints.ts");
      const { namedCluster } = await import("../cluster/namedCluster.ts");
      const { systemClock } = await import("@isthmus/plane/clock");
      const columns = io.columns ?? terminalColumns();
      const hints = hintsIn(place);
      const api = await connectApiServer(place);
      await inManagementCluster(place, connect, async (management) => {
        const installation = {
          cluster: namedCluster(management, "management cluster"),
          namespace,
          precheck: (needs: Parameters<typeof planeProblems>[2]) => planeProblems(api, namespace, needs),
          waits: wait,
          timeoutMs: timeout,
          rollback: rollback === true,
          interrupt: catchInterrupts(),
          hints,
          clock: systemClock,
          passed: (result: Parameters<typeof gateText>[0]) => io.err(`${gateText({ ...result, text: plainText(result.text) }, columns)}\n`),
          progress: (text: string) => io.progress(plainText(text)),
        };
        if (dryRun !== true) return installPlane(installation);
        const lines = await previewInstallation(installation);
        await io.out(lines.map((line) => `${line}\n`).join(""));
      });
      if (dryRun === true) io.err("Nothing was changed (--dry-run).\n");
      else {
        const register = hints.acrossClusters("cluster", "register", "NAME", "--remote-context", "CONTEXT");
        io.err(`The management plane is installed in namespace ${namespace}. To register a cluster:\n  ${register}\n`);
      }
    });
}

const HELP = `
Applies what the charts in deploy/helm contain with their default values. For other values use Helm; an installation by Helm is never changed.
CRDs that others have created stay as they are. Can be repeated. --rollback keeps a CRD or a namespace with something in it, and says so.

Exit codes: 0 installed, 2 usage error, no answer, or a gate did not open, 124 a gate did not open within --timeout, 130
interrupted (Ctrl-C): with --rollback after taking back what this run made; a second Ctrl-C ends at once.

Examples:
  meshctl install --context mgmt

  # What would be applied
  meshctl install --context mgmt --dry-run`;
