import { describe, expect, it } from 'vitest';
import { ChannelsFileError, parseChannels } from '../../../src/bootstrap/config/channels-file.ts';

const problemOf = (file: unknown): string => {
  try {
    parseChannels(typeof file === 'string' ? file : JSON.stringify(file), ENVIRONMENT);
    return 'none';
  } catch (error) {
    if (!(error instanceof ChannelsFileError)) throw error;
    return error.message;
  }
};

const ENVIRONMENT = { TOKEN: 'of-the-test' };
const META = {
  kind: 'cloud-api',
  accessToken: { env: 'TOKEN' },
  appSecret: { env: 'TOKEN' },
  verifyToken: { env: 'TOKEN' },
};
const SIMULATOR = { simulator: { kind: 'simulator' } };

describe('a channels file', () => {
  it('a channels file without routes sends every number to its providers in their order', () => {
    expect(parseChannels(JSON.stringify({ sms: { providers: SIMULATOR } }), {})).toEqual({
      sms: {
        providers: [{ kind: 'simulator', name: 'simulator', make: null }],
        routes: [{ prefixes: [], operators: [], providers: ['simulator'] }],
      },
      whatsapp: null,
      telegram: null,
    });
  });

  it.each([
    ['{', 'is not JSON: line 1, column 2'],
    [{ fax: {} }, 'fax: must be one of sms, whatsapp, telegram'],
    [[], 'the file: must be of the type object'],
    [{ sms: { providers: SIMULATOR, route: [] } }, 'sms.route: must be one of providers, routes'],
    [{ sms: {} }, 'sms.providers: is required'],
    [
      { fax: {}, sms: { providers: {} }, telegram: { providers: { tg: {} } } },
      'fax: must be one of sms, whatsapp, telegram; sms.providers: must have a provider; telegram.providers.tg.kind: is required',
    ],
    [
      { sms: { providers: { simulator: { kind: 'simulator', token: 'x' } } } },
      'sms.providers.simulator: has a field of an unknown name: token',
    ],
    [{ sms: { providers: SIMULATOR, routes: [] } }, 'sms.routes: must have a route'],
    [
      {
        sms: {
          providers: SIMULATOR,
          routes: [
            { prefixes: ['964'], providers: ['simulator'] },
            { providers: ['simulator'] },
            { operators: ['asiaCell'], providers: ['simulator'] },
          ],
        },
      },
      'sms.routes.2: gets no number, because route 1 takes every one',
    ],
    [
      {
        whatsapp: { providers: { meta: META } },
        telegram: { providers: { meta: { kind: 'telegram-gateway', token: { env: 'TOKEN' } } } },
      },
      'telegram.providers.meta: whatsapp has a provider of this name',
    ],
    [{ sms: { providers: {} } }, 'sms.providers: must have a provider'],
    [
      { sms: { providers: { 'An SMSC': { kind: 'simulator' } } } },
      'sms.providers.An SMSC: must be 1 to 40 of a-z, 0-9 and hyphen, and not digits alone; sms.providers.An SMSC: the simulator must be called simulator',
    ],
    [
      { sms: { providers: { test: { kind: 'simulator' } } } },
      'sms.providers.test: the simulator must be called simulator',
    ],
    [
      { sms: { providers: { 20: { kind: 'simulator' } } } },
      'sms.providers.20: must be 1 to 40 of a-z, 0-9 and hyphen, and not digits alone; sms.providers.20: the simulator must be called simulator',
    ],
    [
      { sms: { providers: SIMULATOR, routes: [{ providers: ['simulator', 'simulator'] }] } },
      'sms.routes.0: names the provider simulator again',
    ],
    [
      { sms: { providers: SIMULATOR, routes: [{ providers: ['other'] }] } },
      'sms.routes.0: sms has no provider other',
    ],
    [
      { sms: { providers: SIMULATOR, routes: [{ prefixes: ['+964'], providers: ['simulator'] }] } },
      'sms.routes.0.prefixes.0: must be international digits without a leading 0, such as 96477',
    ],
    [
      { sms: { providers: SIMULATOR, routes: [{ prefixes: ['0770'], providers: ['simulator'] }] } },
      'sms.routes.0.prefixes.0: must be international digits without a leading 0, such as 96477',
    ],
    [
      { sms: { providers: SIMULATOR, routes: [{ providers: [] }] } },
      'sms.routes.0.providers: must name a provider',
    ],
  ])('a channels file %j says what is wrong in it', (file, problem) => {
    expect(problemOf(file)).toBe(problem);
  });

  it('a channels file names the kinds that can carry a channel', () => {
    expect(problemOf({ telegram: { providers: { fax: { kind: 'fax' } } } })).toContain(
      'telegram.providers.fax.kind: must be one of',
    );
  });
});
