import type { AnyResource } from "@isthmus/core";
import type { AccessQuery, AccessVerdict, Verdict } from "@isthmus/translators";
import { stringify } from "yaml";
import type { engineOf, Installation } from "./engineVerdicts.ts";
import { OTHER_TRUST_DOMAIN } from "./engineVerdicts.ts";
import { envoyVerdict, type ProxyVerdict } from "./envoyVerdict.ts";
import type { ProxyPod } from "./proxies.ts";
import { OTHER, type Surroundings, type World, type WorldCaller, type WorldService } from "./randomFleets.ts";

/** One question to both. */
export interface Comparison {
  readonly world: World;
  readonly ours: Verdict;
  readonly theirs: Verdict;
  /** What to read when they do not agree. */
  readonly difference?: string;
}

const REQUESTS = ["GET /", "POST /", "GET /admin/x", "POST /admin/x"].map((line) => {
  const [method = "", path = ""] = line.split(" ");
  return { method, path };
});

/** What is asked about a Service. */
function questionsOf({ ports }: WorldService, callers: readonly WorldCaller[]): readonly Required<AccessQuery>[] {
  return callers.flatMap((caller) => ports.flatMap((port) => REQUESTS.map((request) => ({ caller, port, ...request }))));
}

/** Each question about an installation, answered by the engine and by what istiod gives to the proxies. */
export function compared(
  { surroundings, meshConfig, worlds }: Installation,
  { engine, listeners }: { readonly engine: ReturnType<typeof engineOf>; readonly listeners: ReadonlyMap<ProxyPod, unknown> },
): readonly Comparison[] {
  const trustDomain = surroundings.trustDomain || "cluster.local";
  return worlds.flatMap((world) =>
    world.services.flatMap((service) =>
      questionsOf(service, world.callers).flatMap((question): readonly Comparison[] => {
        const { caller, port, method, path } = question;
        const domain = caller.clusterName === OTHER ? OTHER_TRUST_DOMAIN : trustDomain;
        const principal = `spiffe://${domain}/ns/${caller.namespace}/sa/${caller.serviceAccount}`;
        const byPod = service.pods.map((pod) => envoyVerdict(listeners.get(pod), { port, principal, method, path }));
        // Where no proxy is, nothing is asked.
        const theirs = together(service.hasBarePod ? [...byPod, "ALLOWED"] : byPod);
        const answer = engine(service, question);
        // Whether anybody has a way there is not what rules decide.
        if (answer?.verdict === "UNREACHABLE") return [];
        const ours = answer?.verdict ?? "UNKNOWN";
        if (ours === theirs) return [{ world, ours, theirs }];
        return [{ world, ours, theirs, difference: described({ world, service, question, answer, byPod, meshConfig, surroundings }) }];
      }),
    ),
  );
}

/** Of the pods of a Service, what a caller who may meet any of them has. */
function together(verdicts: readonly ProxyVerdict[]): Verdict {
  const kinds = new Set(verdicts);
  if (kinds.has("ASKED")) return "UNKNOWN";
  if (kinds.size > 1) return "RESTRICTED";
  return kinds.has("ALLOWED") ? "ALLOWED" : "DENIED";
}

interface Difference {
  readonly world: World;
  readonly service: WorldService;
  readonly question: AccessQuery;
  readonly answer: AccessVerdict | undefined;
  readonly byPod: readonly ProxyVerdict[];
  readonly meshConfig: string;
  readonly surroundings: Surroundings;
}

function described({ world, service, question, answer, byPod, meshConfig, surroundings }: Difference): string {
  const rules = [...surroundings.objects, ...world.objects, ...world.policies].filter(
    ({ kind }) => kind.endsWith("Policy") || kind === "Service" || kind === "PeerAuthentication",
  );
  return [
    `${JSON.stringify(question)} to ${service.namespace}/${service.name}: engine ${answer?.verdict} at ${answer?.at}, istiod ${byPod.join(", ")}`,
    `decided by ${JSON.stringify(answer?.objects.map(({ name }) => name))}`,
    meshConfig,
    ...rules.map((one: AnyResource) => stringify(one)),
  ].join("\n");
}
