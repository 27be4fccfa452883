import { DEMO_SEED } from '../../src/bootstrap/config/demo-seed.ts';
import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';

type SeedProject = SeedFile['projects'][number];

export const LIVE_KEY = 'sk_live_0123456789abcdef0123456789abcdef01234567';

/** The demo with its first project changed. */
export function seedWith(changes: Partial<SeedProject>): SeedFile {
  const [demo] = DEMO_SEED.projects;
  if (demo === undefined) throw new Error('The demo has a project');
  return { ...DEMO_SEED, projects: [{ ...demo, ...changes }] };
}

export const verification = (phoneNumber: string, more: Record<string, unknown> = {}) => ({
  phoneNumber,
  smsType: 'verification',
  verificationCode: '123456',
  ...more,
});

/** Another project of the seed, with all that its first one has but the key. */
export function anotherProject(
  { projects: [first] }: SeedFile,
  apiKey: string,
  slug = 'other',
): SeedFile['projects'][number] {
  if (first === undefined) throw new Error('The seed has a project');
  return { ...first, name: slug, slug, apiKeys: [apiKey] };
}
