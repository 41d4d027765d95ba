import { emptyOutputSet, emptySnapshot, type Kind, type OutputSet, refOf, type Snapshot } from "@isthmus/core";

/** What was discovered, with the statuses that are published where they are, else those of the translation. Costs what changed since the last call. */
export function discoveredObjects(kinds: readonly Kind[]): (attached: Snapshot, published: Snapshot) => Snapshot {
  let [result, attachedBefore, publishedBefore] = [emptySnapshot(), emptySnapshot(), emptySnapshot()];
  return (attached, published) => {
    if (attached === attachedBefore && published === publishedBefore) return result;
    for (const kind of kinds) {
      const [made, read] = [attached.of(kind), published.of(kind)];
      const changed = [...made.changesSince(attachedBefore.of(kind)), ...read.changesSince(publishedBefore.of(kind))];
      const rows = changed.map(({ key }) => {
        const own = made.row(key);
        return [key, own === undefined ? undefined : (read.row(key) ?? own)] as const;
      });
      result = result.withCollection(kind, result.of(kind).with(rows));
    }
    [attachedBefore, publishedBefore] = [attached, published];
    return result;
  };
}

/** The resources of a set of outputs. Costs what changed since the last call. */
export function outputObjects(): (outputs: OutputSet | undefined) => Snapshot {
  let before: OutputSet | undefined;
  let result = emptySnapshot();
  return (outputs) => {
    if (outputs === undefined || outputs === before) return result;
    const changes = outputs.changesSince(before ?? emptyOutputSet(outputs.owner));
    result = result.apply({
      put: changes.flatMap(({ after }) => (after === undefined ? [] : [after.resource])),
      remove: changes.flatMap(({ before: was, after }) => (after === undefined && was !== undefined ? [refOf(was.resource)] : [])),
    });
    before = outputs;
    return result;
  };
}
