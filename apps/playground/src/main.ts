import { setMaxListeners } from "node:events";
import { onAbort, UsageError } from "@isthmus/core";
import { parsedOptions, portNumber, runProgram } from "@isthmus/process";
import { Command, InvalidArgumentError, Option } from "commander";
import { type Logger, pino } from "pino";
import pretty from "pino-pretty";
import { startDemoAdmin } from "./admin.ts";
import { NAMESPACE } from "./agent.ts";
import { printChanges } from "./changes.ts";
import { check } from "./check.ts";
import { colors } from "./colors.ts";
import { type DemoConsole, startDemoConsole } from "./console.ts";
import { type Demo, startDemo } from "./demo.ts";
import { DEMO_KUBECONFIG, writeDemoKubeconfig } from "./demoKubeconfig.ts";
import { help, onKeys } from "./keys.ts";
import { applyManifests, type Manifest, readManifests } from "./manifests.ts";
import { countsTable, federationTable } from "./outcome.ts";
import { openRecording, replay } from "./recordings.ts";
import { guide, TOUR_FOLDER, writeTour } from "./tour.ts";
import { demoVirtualMeshOf } from "./trust/virtualMesh.ts";
import { areMeshesKnown, DEMO_LIMIT_MS, isFederated, until } from "./waiting.ts";

interface Options {
  readonly adminPort: number;
  readonly check: boolean;
  readonly clusters: number;
  readonly filename: readonly string[];
  readonly record?: string;
  readonly replay?: string;
  readonly serve: boolean;
  readonly services: number;
  readonly tour: boolean;
  readonly port: number;
  readonly ui: boolean;
  readonly uiPort: number;
  readonly verbose: boolean;
}

function readOptions(argv: readonly string[]): Options {
  const command = new Command("npm run demo --")
    .description("Run two simulated clusters with Istio and Bookinfo, managed by a real server and real agents.")
    .addOption(
      new Option("--check", "without a terminal: apply a policy, wait for its effect, delete it, print the durations and exit").default(
        false,
      ),
    )
    .addOption(
      new Option("--tour", "ten minutes with kubectl: federate, shift, deny and undo, each step checked").default(false).conflicts("check"),
    )
    .addOption(
      new Option("-f, --filename <path...>", "files and folders of your own policies, applied once the clusters are federated")
        .default([])
        .conflicts("tour"),
    )
    .addOption(new Option("--clusters <number>", "workload clusters, 2 to 20").default(2).argParser(between(2, 20)))
    .addOption(
      new Option("--services <number>", "services in each cluster beside Bookinfo, 0 to 500").default(0).argParser(between(0, 500)),
    )
    .addOption(new Option("--serve", "without a terminal: until it is ended by a signal").default(false).conflicts(["check", "tour"]))
    .addOption(new Option("--record <file>", "write what the console shows into a file that --replay reads").conflicts("ui"))
    .addOption(
      new Option("--replay <file>", "show what was recorded, at the pace of then, without clusters").conflicts([
        "adminPort",
        "check",
        "clusters",
        "filename",
        "port",
        "record",
        "serve",
        "services",
        "tour",
        "ui",
      ]),
    )
    .addOption(
      new Option("--admin-port <number>", "port of metrics, traffic, access logs and certificates").default(9091).argParser(portNumber),
    )
    .addOption(new Option("--port <number>", "port that agents connect to").default(9900).argParser(portNumber))
    .addOption(new Option("--no-ui", "do not serve the console"))
    .addOption(new Option("--ui-port <number>", "port of the console").default(8090).argParser(portNumber))
    .addOption(new Option("--verbose", "print the logs of server and agents").default(false));
  return parsedOptions<Options>(command, argv);
}

/** Reads a whole number within bounds. */
function between(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,6}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It is not a whole number from ${least} to ${most}.`);
  };
}

async function run(options: Options, signal: AbortSignal): Promise<void> {
  if (options.replay !== undefined) return replay(options.replay, { port: options.uiPort, log: logOf(options), say: console.log }, signal);
  const { adminPort, check: checks, clusters, filename, port, services, tour, ui, uiPort, record } = options;
  const manifests = readManifests(filename);
  const started = performance.now();
  const say = (line: string) => console.log(line);
  const log = logOf(options);
  const stop = new AbortController();
  const running = AbortSignal.any([signal, stop.signal]);
  // Every watch of every kind listens to it.
  setMaxListeners(0, running);

  let demo: Demo | undefined;
  let shown: DemoConsole | undefined;
  let admin: { readonly ended: Promise<void> } | undefined;
  const removals: (() => void)[] = [];
  const recording = record === undefined ? undefined : openRecording(record);
  try {
    say(`Starting a management cluster and ${clusters} workload clusters, simulated in this process …`);
    demo = await startDemo({ port, clusters, services, log, say }, running);
    removals.push(writeDemoKubeconfig(DEMO_KUBECONFIG, demo.contexts));
    if (tour) removals.push(writeTour(TOUR_FOLDER));
    say(
      `kubectl and meshctl reach them by export KUBECONFIG=$PWD/${DEMO_KUBECONFIG} (contexts ${demo.contexts.map(({ name }) => name).join(", ")})`,
    );
    if (ui) {
      shown = await startDemoConsole(
        { server: demo.server, traffic: demo.traffic, namespace: NAMESPACE, port: uiPort, log, say, record: recording?.write },
        running,
      );
      say(`The console is at http://127.0.0.1:${shown.port}/`);
    }
    if (!checks) {
      const started = await startDemoAdmin({ demo, port: adminPort }, running);
      admin = started;
      say(`meshctl top, logs access and cert list read --admin-address http://127.0.0.1:${started.port}`);
    }
    await show(demo, { ...options, manifests, say, started }, running);
  } finally {
    for (const remove of removals) remove();
    stop.abort(new Error("the demo has ended"));
    await Promise.all([demo?.ended, shown?.ended, admin?.ended]);
    if (recording !== undefined) say(await recording.close());
  }
}

function logOf({ verbose }: Options): Logger {
  return pino(
    { level: verbose ? "debug" : "error", base: {} },
    pretty({ destination: 2, sync: true, translateTime: "HH:MM:ss.l", singleLine: true }),
  );
}

interface Showing extends Pick<Options, "check" | "serve" | "tour"> {
  readonly manifests: readonly Manifest[];
  readonly say: (line: string) => void;
  /** When the demo was started, on the clock of `performance.now`. */
  readonly started: number;
}

async function show(demo: Demo, showing: Showing, running: AbortSignal): Promise<void> {
  const { check: checks, manifests, serve, tour, say, started } = showing;
  say(
    `The server listens on 127.0.0.1:${demo.port}; the agents of ${demo.workload.map(({ name }) => name).join(" and ")} register and connect …`,
  );
  for (const { name } of demo.workload) demo.startAgent(name);
  if (tour) return showTour(demo, say, running);
  // Before that it would name meshes that nobody knows of, and say so.
  await until("the meshes of all clusters are discovered", () => areMeshesKnown(demo), { limitMs: DEMO_LIMIT_MS, signal: running });
  await demo.management.create(demoVirtualMeshOf(demo.workload.map(({ name }) => name)));
  say("Creating VirtualMesh bookinfo with the meshes of all clusters …");
  await until("all clusters are federated", () => isFederated(demo), { limitMs: DEMO_LIMIT_MS, signal: running });
  const readyMs = performance.now() - started;
  const refused = await applyManifests(demo.management, manifests);
  for (const line of refused) say(colors.red(line));
  if (manifests.length > refused.length) say(`${manifests.length - refused.length} of ${manifests.length} objects of yours are applied.`);

  if (checks) {
    await check(demo, readyMs, running);
    if (refused.length > 0) throw new UsageError(`${refused.length} of ${manifests.length} objects of yours were refused`);
  } else if (serve) {
    say(`Ready after ${(readyMs / 1_000).toFixed(1)} s. It ends with Ctrl-C, or SIGTERM.`);
    await new Promise<void>((resolve) => onAbort(running, resolve));
  } else {
    say(`\n${await countsTable(demo.management, demo.workload)}\n\n${await federationTable(demo.workload, process.stdout.columns)}\n`);
    say(
      `Ready after ${(readyMs / 1_000).toFixed(1)} s. All services of each cluster can be called from the other cluster. Keys:\n\n${help()}\n`,
    );
    printChanges([demo.management, ...demo.workload], say, running);
    await onKeys(demo, say, running);
    say(colors.dim("Stopping …"));
  }
}

/** The tour, while keys work as they do without it. */
async function showTour(demo: Demo, say: (line: string) => void, running: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const guided = guide(demo, say, AbortSignal.any([running, stop.signal])).catch((error: unknown) => {
    if (!running.aborted && !stop.signal.aborted) throw error;
  });
  await onKeys(demo, say, running);
  stop.abort(new Error("the demo has ended"));
  await guided;
  say(colors.dim("Stopping …"));
}

process.exitCode = await runProgram((signal) => run(readOptions(process.argv.slice(2)), signal));
