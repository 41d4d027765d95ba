import { type AccessPolicy, Deployment, type TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { displayName, type Resource } from "@isthmus/core";
import { ClusterError } from "@isthmus/plane";
import { demoPolicies } from "@isthmus/simulator";
import { colors } from "./colors.ts";
import type { Demo } from "./demo.ts";
import { countsTable, federationTable } from "./outcome.ts";
import { demoVirtualMesh, withNextRoot } from "./trust/virtualMesh.ts";

interface Action {
  readonly key: string;
  /** With the key, at most 60 columns. */
  readonly label: string;
  run(demo: Demo, say: (line: string) => void): Promise<void>;
}

const ACTIONS: readonly Action[] = [
  {
    key: "s",
    label: "shift 25% of the traffic to reviews to cluster-2",
    run: (demo, say) =>
      apply(
        demo,
        demoPolicies.shiftPolicy,
        {
          effect: "25% of the calls to reviews in cluster-1 go to cluster-2",
          look: "Topology: productpage-v1 calls reviews in cluster-2, where ratings are slow and some fail",
        },
        say,
      ),
  },
  {
    key: "u",
    label: "remove the traffic shift",
    run: (demo, say) => remove(demo, demoPolicies.shiftPolicy, "Topology: productpage-v1 calls reviews of its own cluster alone", say),
  },
  {
    key: "t",
    label: "set a timeout of 2 s and retries for reviews",
    run: (demo, say) =>
      apply(
        demo,
        demoPolicies.timeoutPolicy,
        { effect: "calls to reviews time out after 2 s", look: "Destinations, reviews: which policy sets timeout and retries" },
        say,
      ),
  },
  {
    key: "d",
    label: "remove the timeout",
    run: (demo, say) => remove(demo, demoPolicies.timeoutPolicy, "Destinations, reviews: Istio's defaults again", say),
  },
  {
    key: "x",
    label: "let only reviews call ratings in cluster-2",
    run: (demo, say) =>
      apply(
        demo,
        demoPolicies.accessPolicy,
        {
          effect: "any other caller of ratings in cluster-2 gets 403",
          look: "Topology and Access: the gateway of cluster-2, which calls ratings past everybody, is denied",
        },
        say,
      ),
  },
  {
    key: "y",
    label: "let everybody call ratings again",
    run: (demo, say) => remove(demo, demoPolicies.accessPolicy, "Access: nothing restricts who may call ratings", say),
  },
  {
    key: "b",
    label: "apply a policy that is rejected",
    async run(demo, say) {
      await apply(
        demo,
        demoPolicies.brokenPolicy,
        {
          effect: "it names a cluster that does not exist",
          look: "Policies, ratings-canary: rejected, with the reason; nothing is written",
        },
        say,
      );
      for (const error of await demo.rejection(demoPolicies.brokenPolicy)) say(`  ${colors.red(error)}`);
    },
  },
  {
    key: "v",
    label: "remove it",
    run: (demo, say) => remove(demo, demoPolicies.brokenPolicy, "Policies: none is rejected", say),
  },
  { key: "k", label: "stop or restart the pod of ratings in cluster-1", run: scaleRatings },
  { key: "r", label: "replace the root certificate of both meshes", run: rotateRoot },
  {
    key: "a",
    label: "stop or restart the agent of cluster-2",
    async run(demo, say) {
      if (demo.isAgentRunning("cluster-2")) {
        await demo.stopAgent("cluster-2");
        say(
          `The agent of cluster-2 is stopped. Its last reported state is still used, and nothing is deleted; changes for cluster-2 are pending.\n  ${colors.dim("look at Topology: cluster-2 is hatched; Clusters: since when it is offline")}`,
        );
      } else {
        demo.startAgent("cluster-2");
        say(
          `The agent of cluster-2 is started: it reports its state and applies the pending changes.\n  ${colors.dim("look at Clusters: cluster-2 is connected, and no change is pending")}`,
        );
      }
    },
  },
  {
    key: "p",
    label: "print the current state",
    async run(demo, say) {
      say(`\n${await countsTable(demo.management, demo.workload)}\n${await federationTable(demo.workload, process.stdout.columns)}`);
    },
  },
];

/** The keys and what they do, for people. */
export function help(): string {
  return [...ACTIONS.map(({ key, label }) => `  ${colors.bold(key)}  ${label}`), `  ${colors.bold("q")}  quit (or Ctrl-C)`].join("\n");
}

/** Runs an action for each key that is pressed, one after the other, until q, Ctrl-C, the end of standard input or the signal. */
export async function onKeys(demo: Demo, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  const { stdin } = process;
  const pressed: string[] = [];
  let hasEnded = false;
  let wake: () => void = () => undefined;
  const onData = (data: Buffer) => {
    pressed.push(...data.toString());
    wake();
  };
  const onEnd = () => {
    hasEnded = true;
    wake();
  };
  signal.addEventListener("abort", () => wake(), { once: true });
  stdin.setRawMode?.(true);
  stdin.on("data", onData).on("end", onEnd);
  try {
    while (!signal.aborted) {
      const key = pressed.shift();
      if (key === undefined) {
        if (hasEnded) return say("Standard input was closed, so no keys can be read: use a terminal, --serve, or --check.");
        await new Promise<void>((resolve) => (wake = resolve));
      } else if (key === "q" || key === "\u0003") return;
      else if (key.trim() !== "") await pressedKey(key, demo, say);
    }
  } finally {
    stdin.off("data", onData).off("end", onEnd);
    stdin.setRawMode?.(false);
    stdin.pause();
  }
}

/** Runs the action of a key, or lists the keys. */
export async function pressedKey(key: string, demo: Demo, say: (line: string) => void): Promise<void> {
  const action = ACTIONS.find((one) => one.key === key);
  if (action === undefined) say(`Keys:\n\n${help()}\n`);
  else await action.run(demo, say);
}

type DemoPolicy = TrafficPolicy | AccessPolicy;

async function apply(
  demo: Demo,
  policy: DemoPolicy,
  { effect, look }: { readonly effect: string; readonly look: string },
  say: (line: string) => void,
): Promise<void> {
  const { name, namespace = "" } = policy.metadata;
  const { apiVersion, kind } = policy;
  const before = demo.management.object({ apiVersion, kind, name, namespace });
  const after = await demo.management.apply(policy, { fieldManager: "demo" });
  if (before?.metadata.resourceVersion === after.metadata.resourceVersion)
    return say(`${kind} ${displayName({ name, namespace })} already exists: nothing changes. The key after it removes it.`);
  say(`${kind} ${displayName({ name, namespace })} is created in the management cluster: ${effect}.\n  ${colors.dim(`look at ${look}`)}`);
  for (const { name: cluster } of demo.workload) {
    if (!demo.isAgentRunning(cluster)) say(`The agent of ${cluster} is stopped: changes for its cluster are pending.`);
  }
}

async function remove(demo: Demo, policy: DemoPolicy, look: string, say: (line: string) => void): Promise<void> {
  const { name, namespace = "" } = policy.metadata;
  const { apiVersion, kind } = policy;
  try {
    await demo.management.delete({ apiVersion, kind, name, namespace, clusterName: "" });
    say(
      `${kind} ${displayName({ name, namespace })} is deleted: everything generated from it is deleted.\n  ${colors.dim(`look at ${look}`)}`,
    );
  } catch (error) {
    if (!(error instanceof ClusterError && error.code === "NotFound")) throw error;
    say(`${kind} ${displayName({ name, namespace })} does not exist.`);
  }
}

const RATINGS = { name: "ratings-v1", namespace: "bookinfo" };

/** As `kubectl scale` does it. */
async function scaleRatings({ workload: [first] }: Demo, say: (line: string) => void): Promise<void> {
  const found = (await first?.get(Deployment, RATINGS)) as { readonly spec?: { readonly replicas?: number } } | undefined;
  if (first === undefined || found === undefined) return say("There is no Deployment bookinfo/ratings-v1 in cluster-1.");
  const replicas = found.spec?.replicas === 0 ? 1 : 0;
  const { apiVersion, kind } = Deployment;
  const scaled: Resource & { readonly spec: object } = { apiVersion, kind, metadata: RATINGS, spec: { replicas } };
  await first.apply(scaled, { fieldManager: "demo" });
  if (replicas === 1)
    return say(
      `The pod of ratings in cluster-1 is started.\n  ${colors.dim("look at Topology: reviews-v2 calls ratings of its own cluster again")}`,
    );
  say(
    `The pod of ratings in cluster-1 is stopped: ratings of cluster-2 takes over for reviews-v2.\n  ${colors.dim("look at Topology: reviews-v2 calls ratings in cluster-2, where some requests fail; Destinations, ratings: no endpoint")}`,
  );
}

/** As `meshctl cert rotate` does it; the first time from the root that users have made to a generated one. */
async function rotateRoot({ management }: Demo, say: (line: string) => void): Promise<void> {
  const { name, namespace = "" } = demoVirtualMesh.metadata;
  const found = await management.get(VirtualMesh, { name, namespace });
  if (found?.spec?.mtlsConfig?.shared === undefined)
    return say(`VirtualMesh ${displayName({ name, namespace })} has no shared root: there is nothing to replace.`);
  try {
    await management.update(withNextRoot(found));
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    return say(`VirtualMesh ${displayName({ name, namespace })} was not changed: ${error.message}. Press r again.`);
  }
  say(
    `VirtualMesh ${displayName({ name, namespace })} gets another root: three steps, two minutes in all, as each waits until all proxies of both clusters are ready for it.\n  ${colors.dim("look at VirtualMeshes, bookinfo: the step of each mesh; Certificates: the new root; Topology: no request fails")}`,
  );
}
