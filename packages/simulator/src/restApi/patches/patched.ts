import { isMembers, type Members } from "../../apply/json.ts";
import { ApiError, badRequest, invalidError } from "../apiError.ts";
import { jsonIn, requireBounds, yamlIn } from "../bodies.ts";
import { invalid } from "../fieldErrors.ts";
import { unsupportedMediaType } from "../options.ts";
import type { ApiResource } from "../resourceTable.ts";
import type { Misfit } from "../writing/typed.ts";
import { goMap, withoutMergedLists } from "./goMap.ts";
import { jsonPatched } from "./jsonPatch.ts";
import { mergePatched } from "./mergePatch.ts";
import { strategicallyMerged } from "./strategicMergePatch.ts";

/** What a patch asks for: to apply an object, or to change the one that is there. */
export type Patch =
  | { readonly form: "apply"; readonly object: unknown }
  | { readonly form: "change"; applyTo(object: Members): PatchedObject };

export interface PatchedObject {
  readonly object: Members;
  /** How values of the object that do not fit its kind are refused. */
  readonly wording: (misfit: Misfit) => ApiError;
}

/** Reads a patch of a media type. Throws ApiError: a type that is unknown, or a patch that cannot be read. */
export function patchedObject({ struct }: ApiResource, type: string, bytes: Buffer): Patch {
  switch (type) {
    case "application/apply-patch+yaml":
      return { form: "apply", object: yamlIn(bytes) };
    case "application/json-patch+json": {
      const patch = patchIn(bytes);
      return { form: "change", applyTo: (object) => inJson(whole(jsonPatched(object, patch))) };
    }
    case "application/merge-patch+json": {
      const patch = patchIn(bytes);
      if (!isMembers(patch))
        throw badRequest("error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}");
      return { form: "change", applyTo: (object) => inJson(whole(mergePatched(object, patch))) };
    }
    case "application/strategic-merge-patch+json": {
      if (struct === undefined)
        throw unsupportedMediaType(["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"]);
      const patch = jsonIn(bytes, badRequest);
      if (!isMembers(patch))
        throw badRequest("error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}");
      return {
        form: "change",
        applyTo: (object) => ({
          object: whole(strategicallyMerged(object, patch, struct)),
          wording: ({ conversion }) => misfitOf(goMap(withoutMergedLists(patch)), conversion),
        }),
      };
    }
    default:
      throw new ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  }
}

function patchIn(bytes: Buffer): unknown {
  return jsonIn(bytes, (problem) => badRequest(`error decoding patch: ${problem}`));
}

function whole(value: unknown): Members {
  if (!isMembers(value)) throw badRequest("the patch leaves no object");
  requireBounds(value);
  return value;
}

function inJson(object: Members): PatchedObject {
  return { object, wording: ({ error }) => misfitOf(JSON.stringify(object), error) };
}

function misfitOf(value: string, problem: string): ApiError {
  return invalidError({ group: "", kind: "" }, "", [invalid("patch", value, problem)]);
}
