import type { Destination } from "@isthmus/api";
import { podPorts } from "./podPorts.ts";
import { portFamily } from "./portProtocol.ts";

/** A port of pods, as the proxy before it treats it. */
export interface AskedPort {
  /** Undefined: not known, or of no Service. */
  readonly number: number | undefined;
  /** Whether rules about HTTP are heeded there. */
  readonly isHttp: boolean;
}

/**
 * The ports of a Destination's pods that a question is about. Of what carries whatever it is sent, HTTP is asked, as where no Service names the
 * port: there a proxy finds out what it is.
 */
export function askedPorts(destination: Destination, port: number | undefined): readonly AskedPort[] {
  const all = podPorts(destination).flatMap(({ number, hints }): readonly AskedPort[] => {
    const family = portFamily(hints);
    return family === undefined ? [] : [{ number, isHttp: family === "HTTP" || family === "detected" }];
  });
  const asked = port === undefined ? all : all.filter(({ number }) => number === port).slice(0, 1);
  return asked.length === 0 ? [{ number: port, isHttp: true }] : asked;
}
