/** Words of the tab Events. */
export const eventStrings = {
  contains:
    "When the conditions of its status last changed, and when insights about it began and ended: servers keep the last hundred of each cluster that have ended. Not kept anywhere: earlier changes of the same condition, earlier specs and who changed them, and Kubernetes Events.",
  none: "Nothing is known of when anything happened to it.",
  became: (condition: string, status: string) => `${condition} became ${status}`,
  began: "Insight began",
  ended: "Insight ended",
} as const;
