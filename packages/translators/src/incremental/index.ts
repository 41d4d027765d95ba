export { type Changes, changesSince } from "./changes.ts";
export { type Derived, derived, updated } from "./derived.ts";
export { inputKind, inputTable, type Join, type JoinSource, join } from "./join.ts";
export { reuseIfEqual } from "./rows.ts";
export { type EarlierRun, transition } from "./transition.ts";
