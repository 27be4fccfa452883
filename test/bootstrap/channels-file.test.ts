import { describe, expect, it } from 'vitest';
import { ChannelsFileError, parseChannels } from '../../src/bootstrap/channels-file.ts';

const problemOf = (file: unknown): string => {
  try {
    parseChannels(typeof file === 'string' ? file : JSON.stringify(file));
    return 'none';
  } catch (error) {
    if (!(error instanceof ChannelsFileError)) throw error;
    return error.message;
  }
};

const SIMULATOR = { simulator: { kind: 'simulator' } };

describe('a channels file', () => {
  it('a channels file without routes sends every number to its providers in their order', () => {
    expect(parseChannels(JSON.stringify({ sms: { providers: SIMULATOR } }))).toEqual({
      sms: {
        providers: [{ kind: 'simulator', name: 'simulator' }],
        routes: [{ prefixes: [], operators: [], providers: ['simulator'] }],
      },
      whatsapp: null,
      telegram: null,
    });
  });

  it.each([
    ['{', 'is not JSON'],
    [{ fax: {} }, 'the file: Unrecognized key: "fax"'],
    [{ sms: { providers: {} } }, 'sms.providers: must have a provider'],
    [
      { sms: { providers: { 'An SMSC': { kind: 'simulator' } } } },
      'sms.providers.An SMSC: must be 1 to 40 of a-z, 0-9 and hyphen; sms.providers.An SMSC: the simulator must be called simulator',
    ],
    [
      { sms: { providers: { test: { kind: 'simulator' } } } },
      'sms.providers.test: the simulator must be called simulator',
    ],
    [
      { sms: { providers: SIMULATOR, routes: [{ providers: ['other'] }] } },
      'sms.routes.0: sms has no provider other',
    ],
    [
      { sms: { providers: SIMULATOR, routes: [{ prefixes: ['+964'], providers: ['simulator'] }] } },
      'sms.routes.0.prefixes.0: must be digits, such as 96477',
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
