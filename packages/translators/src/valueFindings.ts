/** What is reported of values of policies that are in force as they are written, and that hardly anybody means: a part of the catalogue in `findings.ts`. */
export const VALUE_FINDINGS = {
  WeightsMissing: {
    meaning: "All weights of a traffic shift are 0, so there is no share for any destination.",
    example: "spec.policy.trafficShift.destinations: all weights are 0: set weights that add up to 100",
  },
  WeightsUneven: {
    meaning: "The weights of a traffic shift do not add up to 100. They are shares of their sum.",
    example:
      "spec.policy.trafficShift.destinations: weights add up to 150, not 100, so they are shares of 150: set weights that add up to 100",
  },
  EntryRepeated: {
    meaning: "A list names the same thing twice: a destination of a traffic shift gets both shares, a mesh of a VirtualMesh is in it once.",
    example: "spec.policy.trafficShift.destinations[1]: names the same as entry 0, so it gets both shares: add them up in one entry",
  },
} as const;
