/** `inner` with some methods replaced. Every other one runs on `inner` itself, so that its private fields are there. */
export function delegate<Port extends object>(inner: Port, replaced: Partial<Port>): Port {
  return new Proxy(inner, {
    get(target, name) {
      const own: unknown = Reflect.get(replaced, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
