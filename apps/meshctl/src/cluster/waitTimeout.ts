import { UsageError } from "@isthmus/core";

/** What was asked for was not seen in the time that was given for it. The exit code is that of `timeout`. */
export class WaitTimeout extends UsageError {}
