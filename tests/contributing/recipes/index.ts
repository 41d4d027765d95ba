import type { Recipe } from "../recipe.ts";
import { feature } from "./feature.ts";
import { field } from "./field.ts";
import { input } from "./input.ts";
import { mesh } from "./mesh.ts";
import { metric } from "./metric.ts";
import { watchedKind } from "./watchedKind.ts";
import { writtenKind } from "./writtenKind.ts";

/** One example for each section of CONTRIBUTING.md whose heading begins with "Adding", in its order. */
export const recipes: readonly Recipe[] = [field, feature, input, watchedKind, writtenKind, metric, mesh];
