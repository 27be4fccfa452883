import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Child, type Handlers, startChild } from '../../test/support/child-process.ts';

export type ServerName =
  | 'arrivals-receiver'
  | 'attacker'
  | 'bare-pool'
  | 'bare-smpp'
  | 'bare-storage'
  | 'campaign-service'
  | 'lean-express'
  | 'neighbour-service'
  | 'receiver'
  | 'service'
  | 'smpp-service'
  | 'smsc'
  | 'stock-express'
  | 'webhook-service';

/** Starts one of the servers of a bench in a process of its own. */
export type StartServer = <Served extends Handlers>(
  name: ServerName,
  environment?: NodeJS.ProcessEnv,
) => Promise<Child<Served>>;

/** A version of the service to measure. */
export interface Checkout {
  /** Names its databases and files. */
  readonly id: 'this' | 'other';
  readonly label: string;
  readonly start: StartServer;
}

/** Options of node for the servers: that of `npm start`, and others, such as `--cpu-prof`. */
const EXEC_ARGV = ['--v8-pool-size=1', ...(process.env.SERVER_EXEC_ARGV ?? '').split(' ').filter(Boolean)];

/** Starts a server of this checkout. Another checkout's bench imports this function too. */
export const startServer: StartServer = (name, environment) =>
  startChild(new URL(`../servers/${name}.js`, import.meta.url), environment, { execArgv: EXEC_ARGV });

export const THIS_CHECKOUT: Checkout = { id: 'this', label: 'this checkout', start: startServer };

/**
 * Another checkout, with its packages installed. It is compiled by its own scripts and runs its own servers, so
 * that neither version needs to know the other's modules.
 */
export async function checkoutAt(folder: string): Promise<Checkout> {
  const load = (...path: string[]) => import(pathToFileURL(resolve(folder, ...path)).href);
  const named = { id: 'other', label: basename(resolve(folder)) } as const;
  const { build, buildBench } = await load('scripts', 'build.mjs');
  // Commit 016a762 and earlier: the servers are plain JavaScript and import from `dist`.
  if (existsSync(join(folder, 'bench', 'child.mjs'))) {
    await build();
    const { startChild: startOther } = await load('bench', 'child.mjs');
    return { ...named, start: (name, environment) => startOther(`servers/${name}.mjs`, environment) };
  }
  const compiled: string = await buildBench();
  const { startServer: startOther } = await load(compiled, 'bench', 'support', 'checkout.js');
  return { ...named, start: startOther };
}
