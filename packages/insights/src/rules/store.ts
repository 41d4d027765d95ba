import { Settings } from "@isthmus/api";
import { defineRule } from "../rule.ts";

/** REL1013: what the server says of the store that replicas share. */
export const storeLacksRoom = defineRule({
  code: "REL1013",
  of: Settings,
  reads: {},
  *find({ metadata, status }, { context }) {
    const { name, namespace, clusterName = "" } = metadata;
    if (name !== "settings" || namespace !== context.namespace || clusterName !== "") return;
    const said = status?.conditions?.find(({ type, status: value }) => type === "StoreHasRoom" && value === "False");
    if (said === undefined) return;
    const remedy =
      said.reason === "Evicts" ? "set maxmemory-policy of Redis to noeviction" : "give Redis more memory, or have agents report less";
    yield { field: "status.conditions", message: (said.message ?? "").split(/[.:] (?=Give |set )/, 1)[0] ?? "", remedy };
  },
});
