import { hasSuppressionEnded, insightSuppressions, Settings } from "@isthmus/api";
import { defineRule, type RuleFinding } from "../rule.ts";

/** CFG1021. */
export const suppressionEnded = defineRule({
  code: "CFG1021",
  of: Settings,
  reads: {},
  readsTime: true,
  find(settings, { context: { namespace, hour } }) {
    const { name, namespace: place, clusterName = "" } = settings.metadata;
    if (name !== "settings" || place !== namespace || clusterName !== "") return [];
    return insightSuppressions(settings).usable.flatMap(({ path, code, until }): readonly RuleFinding[] => {
      if (!hasSuppressionEnded(until, hour)) return [];
      return [
        { field: `${path}.until`, message: `the suppression of ${code} has ended on ${until}`, remedy: "remove the entry, or extend it" },
      ];
    });
  },
});
