import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { problemOf } from '../../adapters/http/input/issue-path.ts';
import { SIMULATOR } from '../../adapters/simulator/simulator.ts';
import { codeOf } from '../../application/errors/error-text.ts';
import type { ProviderRoute } from '../../domain/providers/provider-route.ts';
import { byName } from '../../domain/shared/by-name.ts';
import { CHANNELS, type Channel } from '../../domain/shared/channel.ts';
import { MOBILE_OPERATORS } from '../../domain/shared/phone-number.ts';
import type { MadeProvider, ProviderTools } from '../providers/provider-kind.ts';
import { PROVIDER_KINDS } from '../providers/provider-kinds.ts';
import { secretIn } from '../providers/secret.ts';
import { jsonMistake } from './json-mistake.ts';

/** A provider of live projects, with its settings and secrets inside `make`. */
export interface ProviderConfig {
  readonly kind: string;
  readonly name: string;
  /** Null for the simulator, which every process has. */
  readonly make: ((tools: ProviderTools) => MadeProvider) | null;
}

/** The providers of one channel for live projects. */
export interface ChannelConfig {
  readonly providers: readonly ProviderConfig[];
  /** The first one that a number belongs to counts. */
  readonly routes: readonly ProviderRoute[];
}

/** The providers of each channel for live projects; null for a channel that they do not have. */
export type ChannelsConfig = Readonly<Record<Channel, ChannelConfig | null>>;

/** The channels file cannot be used. Each of `problems` names a place in it and what is wrong there. */
export class ChannelsFileError extends Error {
  override readonly name = 'ChannelsFileError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** A name stands in message ids, in the path of callbacks and in the log. JSON puts those of digits alone before all others. */
const NAME_PATTERN = /^(?!\d+$)[a-z0-9][a-z0-9-]{0,39}$/;
const NAME_FORM = 'must be 1 to 40 of a-z, 0-9 and hyphen, and not digits alone';
const PREFIX_FORM = 'must be international digits without a leading 0, such as 96477';
const ROUTES_MAX = 1_000;

const routeSchema = z.strictObject({
  prefixes: z.array(z.string().regex(/^[1-9][0-9]{0,14}$/, PREFIX_FORM)).default([]),
  operators: z.array(z.enum(MOBILE_OPERATORS)).default([]),
  providers: z.array(z.string()).min(1, 'must name a provider'),
});

const routesSchema = z.array(routeSchema).min(1, 'must have a route').max(ROUTES_MAX);
const providersSchema = z.record(z.string(), z.unknown());
const kindSchema = z.looseObject({ kind: z.string() });
const membersSchema = z.record(z.string(), z.unknown());
const simulatorSchema = z.strictObject({});

/** The variables that credentials may stand in. */
type Environment = Readonly<Record<string, string | undefined>>;

/** What is wrong in a channels file, each with its path. */
type Problems = string[];

/** A channel with one provider for every number: the simulator. */
export function simulated(): ChannelConfig {
  return {
    providers: [{ kind: SIMULATOR, name: SIMULATOR, make: null }],
    routes: [{ prefixes: [], operators: [], providers: [SIMULATOR] }],
  };
}

/** The providers in the file at `path`, with credentials of this environment. Throws `ChannelsFileError`. */
export function readChannelsFile(path: string, environment: Environment): ChannelsConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ChannelsFileError([`${path} cannot be read (${codeOf(error)})`]);
  }
  try {
    return parseChannels(text, environment);
  } catch (error) {
    if (!(error instanceof ChannelsFileError)) throw error;
    throw new ChannelsFileError(error.problems.map((problem) => `${path}: ${problem}`));
  }
}

/** The variables that the file at `path` takes credentials from; none when it cannot be read. */
export function credentialVariables(path: string): readonly string[] {
  try {
    return variablesIn(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return [];
  }
}

function variablesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'env' in value && typeof value.env === 'string' ? [value.env] : [];
  return [...own, ...Object.values(value).flatMap(variablesIn)];
}

/**
 * The providers that a channels file describes, with credentials of this environment; see docs/channels.md. Throws
 * `ChannelsFileError`.
 */
export function parseChannels(text: string, environment: Environment): ChannelsConfig {
  const problems: Problems = [];
  const file = membersOf(documentOf(text), CHANNELS, '', problems);
  const config = byName(CHANNELS, (channel) => channelOf(channel, file[channel], environment, problems));
  problems.push(...sharedNames(config));
  if (problems.length > 0) throw new ChannelsFileError(problems);
  return config;
}

function documentOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ChannelsFileError([`is not JSON: ${jsonMistake(text)}`]);
  }
}

function channelOf(
  channel: Channel,
  given: unknown,
  environment: Environment,
  problems: Problems,
): ChannelConfig | null {
  if (given === undefined) return null;
  const members = membersOf(given, ['providers', 'routes'], channel, problems);
  const described = checked(providersSchema, members.providers, `${channel}.providers`, problems) ?? {};
  const names = Object.keys(described);
  if (members.providers !== undefined && names.length === 0) {
    problems.push(`${channel}.providers: must have a provider`);
  }
  const providers = names.flatMap((name) =>
    providerOf(channel, name, described[name], environment, problems),
  );
  const everyNumber = [{ prefixes: [], operators: [], providers: names }];
  if (members.routes === undefined) return { providers, routes: everyNumber };
  const routes = checked(routesSchema, members.routes, `${channel}.routes`, problems) ?? [];
  problems.push(...routeProblems(channel, routes, names));
  return { providers, routes };
}

/** A route names providers of its channel, each once, and stands before the one that takes every number. */
function routeProblems(
  channel: Channel,
  routes: readonly ProviderRoute[],
  names: readonly string[],
): readonly string[] {
  const isForAll = ({ prefixes, operators }: ProviderRoute) => prefixes.length + operators.length === 0;
  const last = routes.findIndex(isForAll);
  return routes.flatMap((route, index) => [
    ...route.providers
      .filter((name) => !names.includes(name))
      .map((name) => `${channel}.routes.${index}: ${channel} has no provider ${name}`),
    ...route.providers
      .filter((name, place) => route.providers.indexOf(name) < place)
      .map((name) => `${channel}.routes.${index}: names the provider ${name} again`),
    ...(last === -1 || index <= last
      ? []
      : [`${channel}.routes.${index}: gets no number, because route ${last} takes every one`]),
  ]);
}

function providerOf(
  channel: Channel,
  name: string,
  given: unknown,
  environment: Environment,
  problems: Problems,
): readonly ProviderConfig[] {
  const place = `${channel}.providers.${name}`;
  if (!NAME_PATTERN.test(name)) problems.push(`${place}: ${NAME_FORM}`);
  const described = checked(kindSchema, given, place, problems);
  if (described === undefined) return [];
  const { kind, ...settings } = described;
  if (kind === SIMULATOR) {
    if (name !== SIMULATOR) problems.push(`${place}: the simulator must be called ${SIMULATOR}`);
    checked(simulatorSchema, settings, place, problems);
    return [{ kind, name, make: null }];
  }
  const found = Object.hasOwn(PROVIDER_KINDS, kind) ? PROVIDER_KINDS[kind] : undefined;
  if (found === undefined || !found.channels.includes(channel)) {
    problems.push(`${place}.kind: must be one of ${kindsFor(channel).join(', ')}`);
    return [];
  }
  const own = checked(found.settings(secretIn(environment)), settings, place, problems);
  return own === undefined ? [] : [{ kind, name, make: (tools) => found.make(own, tools) }];
}

function kindsFor(channel: Channel): readonly string[] {
  const kinds = Object.entries(PROVIDER_KINDS).filter(([, { channels }]) => channels.includes(channel));
  return [...kinds.map(([kind]) => kind), SIMULATOR];
}

/** Callbacks and the log tell providers apart by their names alone. */
function sharedNames(config: ChannelsConfig): readonly string[] {
  const named = CHANNELS.flatMap((channel) =>
    (config[channel]?.providers ?? []).map(({ kind, name }) => ({ channel, kind, name })),
  ).filter(({ kind }) => kind !== SIMULATOR);
  return named.flatMap(({ channel, name }, index) => {
    const first = named.findIndex((each) => each.name === name);
    if (first === index) return [];
    return [`${channel}.providers.${name}: ${named[first]?.channel} has a provider of this name`];
  });
}

/** The members of an object by their names, each to be checked for itself; empty for what is no object. */
function membersOf(
  value: unknown,
  known: readonly string[],
  place: string,
  problems: Problems,
): Readonly<Record<string, unknown>> {
  const members = checked(membersSchema, value, place, problems) ?? {};
  for (const name of Object.keys(members).filter((each) => !known.includes(each))) {
    problems.push(
      `${[place, name].filter((part) => part !== '').join('.')}: must be one of ${known.join(', ')}`,
    );
  }
  return members;
}

/** Undefined when the value does not fit; every reason is a problem. */
function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: string,
  problems: Problems,
): z.output<Schema> | undefined {
  const result = schema.safeParse(value, { error: problemOf });
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    problems.push(`${[place, ...path].filter((part) => part !== '').join('.') || 'the file'}: ${message}`);
  }
  return undefined;
}
