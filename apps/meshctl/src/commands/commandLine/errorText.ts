import { messageOf, withoutHidden } from "@isthmus/core";

/** What is wrong, as it may go to a terminal: much of it was said by a cluster, by its pods, their logs, its API server. */
export function errorText(error: unknown): string {
  return withoutHidden(messageOf(error));
}
