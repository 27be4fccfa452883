import { type Config, ConfigError, readConfig } from '../../config/config.ts';
import { checkProviders } from '../provider-checks.ts';
import { examineBroker } from './broker-checks.ts';
import { examineDatabase } from './database-checks.ts';
import { type Finding, reasonIn, well, wrong } from './finding.ts';
import { examineDisk, examineOpenFiles } from './machine-checks.ts';

/** Every check, in the order in which one depends on another. Changes nothing and sends nothing; never rejects. */
export async function examine(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  const config = configuration(environment);
  if (config instanceof ConfigError) {
    return [
      ...config.mistakes.map(({ name, problem }) =>
        wrong('configuration', `${name} ${problem}`, 'see docs/configuration.md'),
      ),
      examineOpenFiles(),
    ];
  }
  const [database, broker, providers, disk] = await Promise.all([
    examineDatabase(config),
    examineBroker(config.queue),
    examineProviders(config),
    examineDisk(config),
  ]);
  return [
    well('configuration', 'can be used'),
    ...database,
    ...broker,
    ...providers,
    ...disk,
    examineOpenFiles(),
  ];
}

function configuration(environment: Readonly<Record<string, string | undefined>>): Config | ConfigError {
  try {
    return readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

async function examineProviders(config: Config): Promise<readonly Finding[]> {
  try {
    const checks = await checkProviders(config);
    if (checks.length === 0)
      return [well('providers', 'live projects have none, dev projects are simulated')];
    return checks.map(({ channel, provider, ok, isUntried, detail }) => {
      const check = `provider ${provider} of ${channel}`;
      return ok
        ? well(check, isUntried === true ? `NOT TRIED, ${detail}` : detail)
        : wrong(check, detail, 'check its settings in CHANNELS_FILE');
    });
  } catch (error) {
    return [wrong('providers', reasonIn(error), 'check CHANNELS_FILE')];
  }
}
