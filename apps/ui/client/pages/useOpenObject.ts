import { type Resource, refOf } from "@isthmus/core";
import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { paramsOf } from "../model/objectPath.ts";

/** Opens the page of an object. */
export function useOpenObject(): (object: Resource) => void {
  const navigate = useNavigate();
  return useCallback(
    (object) => void navigate({ to: "/object/$group/$kind/$cluster/$namespace/$name", params: paramsOf(refOf(object)) }),
    [navigate],
  );
}
