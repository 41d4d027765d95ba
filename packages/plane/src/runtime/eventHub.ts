/** Events by type, each with the values it carries: `{ changed: [name: string] }`. */
type EventMap<E> = { readonly [Type in keyof E]: readonly unknown[] };

/** Connects parts that emit events with parts that listen to them, so that neither needs the other to be built. */
export interface EventHub<E extends EventMap<E>> {
  /** Listens to all events of a type that are emitted from now on. */
  on<Type extends keyof E>(type: Type, listener: (...event: E[Type]) => void): void;
  /** Calls the listeners before it returns, in the order in which they subscribed. Throws what a listener throws. */
  emit<Type extends keyof E>(type: Type, ...event: E[Type]): void;
}

/** An event hub without listeners. */
export function eventHub<E extends EventMap<E>>(): EventHub<E> {
  const listeners: { [Type in keyof E]?: ((...event: E[Type]) => void)[] } = {};
  return {
    on(type, listener) {
      const present = listeners[type] ?? [];
      present.push(listener);
      listeners[type] = present;
    },
    emit(type, ...event) {
      for (const listener of listeners[type] ?? []) listener(...event);
    },
  };
}
