import type { Scenario } from "../step.ts";
import { applies } from "./applies.ts";
import { commands } from "./commands.ts";
import { definitions } from "./definitions.ts";
import { kinds } from "./kinds.ts";
import { objects } from "./objects.ts";
import { users } from "./users.ts";

/** All that is done to both API servers. */
export const scenarios: readonly Scenario[] = [...objects, ...applies, ...definitions, ...kinds, ...commands, ...users];
