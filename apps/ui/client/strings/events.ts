/** Words of the tab Events. */
export const eventStrings = {
  contains:
    "By which field manager its spec was last changed, when the conditions of its status last changed, and when insights about it began and ended: servers keep the last hundred of each cluster that have ended. Not kept anywhere: earlier changes of the same condition, as which user somebody changed the spec (the audit log of the API server has it), and Kubernetes Events.",
  none: "Nothing is known of when anything happened to it.",
  became: (condition: string, status: string) => `${condition} became ${status}`,
  changedBy: (manager: string) => `Spec changed by ${manager}`,
  by: (manager: string) => `by ${manager}`,
  generation: (generation: number | undefined) => (generation === undefined ? "" : `generation ${generation}`),
  began: "Insight began",
  ended: "Insight ended",
  generations: "Generations",
  generationsWhy:
    "Those that the console's server remembers, each from the first moment that has it. What lasted less than the time between two moments is not among them. By which tool and why is what labels and annotations say, else the field manager that changed the spec.",
  generationsNone: "The console's server remembers nothing of it yet: it takes a moment a minute.",
  generationsFailed: (problem: string) => `The server does not say which generations it remembers: ${problem}`,
  manager: "By and because of",
  absent: "did not exist",
  asItWas: "As it was",
} as const;
