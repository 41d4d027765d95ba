import { type HttpRoute, nanosecondsOf, VirtualService } from "@isthmus/api";
import { refOf } from "@isthmus/core";
import { patchRemedy } from "../insight.ts";
import { defineRule, type RuleFinding } from "../rule.ts";

/** BP0001. */
export const exportToMissing = defineRule({
  code: "BP0001",
  of: VirtualService,
  reads: {},
  *find(object) {
    const { exportTo = [], gateways = [], hosts = [] } = object.spec ?? {};
    // A delegate is read by the VirtualService that names it, from whatever namespace.
    if (hosts.length === 0) return;
    // Routes of gateways alone concern no other callers, and with `.` a gateway of another namespace would lose them.
    const isOfGateways = gateways.some((gateway) => gateway !== "mesh");
    if (exportTo.length > 0 || (isOfGateways && !gateways.includes("mesh"))) return;
    yield {
      field: "spec.exportTo",
      message: "is empty: the routing is in force for callers of all namespaces",
      remedy: isOfGateways
        ? "name the namespaces of the callers, and of the gateways"
        : patchRemedy("name the namespaces of the callers", refOf(object), { spec: { exportTo: ["."] } }),
    };
  },
});

/** RTE1006 of Istio objects of users. */
export const routeNeverReached = defineRule({
  code: "RTE1006",
  of: VirtualService,
  reads: {},
  find({ spec }) {
    const routes = spec?.http ?? [];
    const taker = routes.findIndex(takesAll);
    const reached = taker < 0 ? routes : routes.slice(0, taker + 1);
    const repeated = repeatedMatches(reached);
    if (taker < 0 || taker === routes.length - 1) return repeated;
    const finding: RuleFinding = {
      field: `spec.http[${taker + 1}]`,
      message: `is never reached, nor is any route after it, because spec.http[${taker}] takes every request`,
      remedy: `move spec.http[${taker}] to the end`,
    };
    return [...repeated, finding];
  },
});

/** Routes of which each match is one of an earlier route. */
function repeatedMatches(routes: readonly HttpRoute[]): readonly RuleFinding[] {
  const firstWith = new Map<string, number>();
  return routes.flatMap(({ match = [] }, i): readonly RuleFinding[] => {
    const keys = match.map(({ name: _, ...conditions }) => JSON.stringify(Object.entries(conditions).sort(([a], [b]) => (a < b ? -1 : 1))));
    const earlier = keys.map((key) => firstWith.get(key));
    for (const key of keys) if (!firstWith.has(key)) firstWith.set(key, i);
    const [first] = earlier;
    if (first === undefined || first === i || earlier.some((route) => route === undefined || route === i)) return [];
    const message = `is never reached, because spec.http[${first}] takes the same requests`;
    return [{ field: `spec.http[${i}]`, message, remedy: "remove it, or change its matches" }];
  });
}

/** One match without conditions is enough; a prefix of "/" is none. */
function takesAll({ match = [] }: HttpRoute): boolean {
  return (
    match.length === 0 ||
    match.some(({ name: _, uri, ...others }) => Object.keys(others).length === 0 && (uri === undefined || uri.prefix === "/"))
  );
}

/** RTE1011 of Istio objects of users. */
export const weightsPointless = defineRule({
  code: "RTE1011",
  of: VirtualService,
  reads: {},
  find: ({ spec }) =>
    (spec?.http ?? []).flatMap(({ route = [] }, i): readonly RuleFinding[] => {
      const weights = route.map(({ weight }) => weight);
      const [only] = weights;
      if (weights.length === 1 && only !== undefined && only !== 100 && only !== 0) {
        const message = `${only} counts as 100, because the route has one destination`;
        return [{ field: `spec.http[${i}].route[0].weight`, message, remedy: "remove the weight, or add a destination for the rest" }];
      }
      if (weights.length < 2 || weights.some((weight = 0) => weight > 0)) return [];
      return [{ field: `spec.http[${i}].route`, message: "all weights are 0", remedy: "set weights that add up to 100" }];
    }),
});

/** RTE1013 of Istio objects of users. */
export const retriesCutShort = defineRule({
  code: "RTE1013",
  of: VirtualService,
  reads: {},
  find: ({ spec }) =>
    (spec?.http ?? []).flatMap(({ timeout, retries }, i): readonly RuleFinding[] => {
      const { attempts = 0, perTryTimeout } = retries ?? {};
      const [whole, one] = [nanosecondsIn(timeout), nanosecondsIn(perTryTimeout)];
      // The first try counts.
      if (whole === undefined || one === undefined || whole === 0 || one * (attempts + 1) <= whole) return [];
      const message = `${timeout} ends before ${attempts + 1} tries of ${perTryTimeout} each`;
      return [
        { field: `spec.http[${i}].timeout`, message, remedy: "raise the timeout, or lower retries.attempts or retries.perTryTimeout" },
      ];
    }),
});

function nanosecondsIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : nanosecondsOf(text);
}
