import { Settings } from "@isthmus/api";
import { equalJson, type Snapshot } from "@isthmus/core";
import { NAMESPACE, settings as settingsOf } from "./objects.ts";

const REF = { name: "settings", namespace: NAMESPACE, clusterName: "" };
const DEFAULTS = settingsOf(1);

/**
 * The same states with the discovery scope of each other one. A cluster that is not connected is known as it was under the scope of then,
 * while all else that Settings say counts already: what they say of scope is in effect later than the rest.
 */
export function withScopesOfOthers(states: readonly Snapshot[]): readonly Snapshot[] {
  const scopes = states.map(scopeIn).filter((scope, i, all) => all.findIndex((other) => equalJson(other, scope)) === i);
  if (scopes.length < 2) return [];
  return states.flatMap((state) => scopes.filter((scope) => !equalJson(scope, scopeIn(state))).map((scope) => withScope(state, scope)));
}

function scopeIn(state: Snapshot): object | undefined {
  return (state.of(Settings).get(REF) ?? Settings.parse(DEFAULTS)).spec?.discovery;
}

function withScope(state: Snapshot, discovery: object | undefined): Snapshot {
  const settings = state.of(Settings).get(REF) ?? Settings.parse({ ...DEFAULTS, metadata: { ...DEFAULTS.metadata, clusterName: "" } });
  return state.apply({ put: [Settings.parse({ ...settings, spec: { ...settings.spec, discovery } })], remove: [] });
}
