import type { ContainerModuleLoadOptions, Newable, ServiceIdentifier } from 'inversify';

type Bind = ContainerModuleLoadOptions['bind'];
type Wiring<Ports> = { readonly [Name in keyof Ports]: ServiceIdentifier<Ports[Name]> };

/**
 * Binds a plain class whose constructor takes one object of ports. A missing, extra or wrong port does not
 * compile, and inversify sees the edges: a port without a binding is reported with the class that needs it.
 */
export function wire<T, Ports extends object>(
  bind: Bind,
  UseCase: new (ports: Ports) => T,
  wiring: Wiring<Ports>,
): void {
  const names = Object.keys(wiring) as (keyof Ports)[];
  bind(UseCase as Newable<T>)
    .toResolvedValue(
      (...resolved: unknown[]) =>
        new UseCase(Object.fromEntries(names.map((name, index) => [name, resolved[index]])) as Ports),
      names.map((name) => wiring[name]),
    )
    .inSingletonScope();
}
