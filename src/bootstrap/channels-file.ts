import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ProviderRoute } from '../domain/messages/provider-route.ts';
import { CHANNELS, type Channel } from '../domain/shared/channel.ts';
import { OPERATORS } from '../domain/shared/phone-number.ts';
import type { MadeProvider, ProviderTools } from './providers/provider-kind.ts';
import { PROVIDER_KINDS } from './providers/provider-kinds.ts';

/** A provider of live projects, with its settings and secrets inside `make`. */
export type ProviderConfig =
  | { readonly kind: 'simulator'; readonly name: string }
  | {
      readonly kind: string;
      readonly name: string;
      readonly make: (tools: ProviderTools) => MadeProvider;
    };

/** The providers of one channel for live projects. */
export interface ChannelConfig {
  readonly providers: readonly ProviderConfig[];
  /** The first one that a number belongs to counts. */
  readonly routes: readonly ProviderRoute[];
}

/** The providers of each channel for live projects; null for a channel that they do not have. */
export type ProvidersConfig = Readonly<Record<Channel, ChannelConfig | null>>;

/** The channels file cannot be used; the message names every place in it and what is wrong there. */
export class ChannelsFileError extends Error {
  override readonly name = 'ChannelsFileError';
}

const SIMULATOR = 'simulator';

/** A name stands in message ids, in the path of callbacks and in the log. */
const NAME_PATTERN = /^[a-z0-9][a-z0-9-]{0,39}$/;
const NAME_FORM = 'must be 1 to 40 of a-z, 0-9 and hyphen';
const ROUTES_MAX = 1_000;

const routeSchema = z.strictObject({
  prefixes: z.array(z.string().regex(/^[0-9]{1,15}$/, 'must be digits, such as 96477')).default([]),
  operators: z.array(z.enum(OPERATORS)).default([]),
  providers: z.array(z.string()).min(1, 'must name a provider'),
});

const channelSchema = z.strictObject({
  providers: z.record(z.string(), z.looseObject({ kind: z.string() })),
  routes: z.array(routeSchema).max(ROUTES_MAX).optional(),
});

const fileSchema = z.strictObject({
  sms: channelSchema.optional(),
  whatsapp: channelSchema.optional(),
  telegram: channelSchema.optional(),
});

/** A channel with one provider for every number: the simulator. */
export function simulated(): ChannelConfig {
  return {
    providers: [{ kind: SIMULATOR, name: SIMULATOR }],
    routes: [{ prefixes: [], operators: [], providers: [SIMULATOR] }],
  };
}

/** The providers in the file at `path`. Throws `ChannelsFileError`. */
export function readChannelsFile(path: string): ProvidersConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new ChannelsFileError(`${path} cannot be read (${code})`);
  }
  return parseChannels(text);
}

/** The providers that a channels file describes; see docs/channels.md. Throws `ChannelsFileError`. */
export function parseChannels(text: string): ProvidersConfig {
  const problems: string[] = [];
  const file = checked(fileSchema, jsonOf(text), '', problems);
  const config = {
    sms: channelOf('sms', file?.sms, problems),
    whatsapp: channelOf('whatsapp', file?.whatsapp, problems),
    telegram: channelOf('telegram', file?.telegram, problems),
  };
  problems.push(...sharedNames(config));
  if (problems.length > 0) throw new ChannelsFileError(problems.join('; '));
  return config;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ChannelsFileError('is not JSON');
  }
}

function channelOf(
  channel: Channel,
  given: z.output<typeof channelSchema> | undefined,
  problems: string[],
): ChannelConfig | null {
  if (given === undefined) return null;
  const names = Object.keys(given.providers);
  if (names.length === 0) problems.push(`${channel}.providers: must have a provider`);
  const providers = names.flatMap((name) =>
    providerOf(channel, name, given.providers[name] ?? { kind: '' }, problems),
  );
  const routes = given.routes ?? [{ prefixes: [], operators: [], providers: names }];
  for (const [index, route] of routes.entries()) {
    for (const name of route.providers.filter((each) => !names.includes(each))) {
      problems.push(`${channel}.routes.${index}: ${channel} has no provider ${name}`);
    }
  }
  return { providers, routes };
}

function providerOf(
  channel: Channel,
  name: string,
  { kind, ...settings }: { readonly kind: string },
  problems: string[],
): readonly ProviderConfig[] {
  const place = `${channel}.providers.${name}`;
  if (!NAME_PATTERN.test(name)) problems.push(`${place}: ${NAME_FORM}`);
  if (kind === SIMULATOR) {
    if (name !== SIMULATOR) problems.push(`${place}: the simulator must be called ${SIMULATOR}`);
    return [{ kind, name }];
  }
  const found = Object.hasOwn(PROVIDER_KINDS, kind) ? PROVIDER_KINDS[kind] : undefined;
  if (found === undefined || !found.channels.includes(channel)) {
    problems.push(`${place}.kind: must be one of ${kindsFor(channel).join(', ')}`);
    return [];
  }
  const own = checked(found.settings, settings, place, problems);
  return own === undefined ? [] : [{ kind, name, make: (tools) => found.make(own, tools) }];
}

function kindsFor(channel: Channel): readonly string[] {
  const kinds = Object.entries(PROVIDER_KINDS).filter(([, { channels }]) => channels.includes(channel));
  return [...kinds.map(([kind]) => kind), SIMULATOR];
}

/** Callbacks and the log tell providers apart by their names alone. */
function sharedNames(config: ProvidersConfig): readonly string[] {
  const names = CHANNELS.flatMap((channel) => config[channel]?.providers ?? [])
    .filter(({ kind }) => kind !== SIMULATOR)
    .map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return twice.map((name) => `two providers are called ${name}`);
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: string,
  problems: string[],
): z.output<Schema> | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    problems.push(`${[place, ...path].filter((part) => part !== '').join('.') || 'the file'}: ${message}`);
  }
  return undefined;
}
