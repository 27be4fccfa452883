/** The rules of the layers, as a function over one file, so that a test can plant violations. */
import { posix } from 'node:path';

export interface SourceFile {
  /** Relative to the root of the repository, with forward slashes: `src/domain/shared/money.ts`. */
  readonly path: string;
  readonly text: string;
}

interface Layer {
  readonly folder: string;
  /** Folders under src a file may import from. */
  readonly folders: readonly string[];
  readonly packages: 'any' | readonly string[];
  readonly forbiddenPackages?: readonly string[];
  readonly forbiddenCode?: readonly RegExp[];
}

const UNREPEATABLE: readonly RegExp[] = [
  /\bnew Date\(\s*\)/,
  /(?<!\bnew )\bDate\(\s*\)/,
  /\bDate\.now\b/,
  /\bMath\.random\b/,
  /\bprocess\./,
  /\bconsole\./,
  /\bsetTimeout\b/,
  /\bsetInterval\b/,
  // The functions of date-fns that read the clock.
  /\b(?:constructNow|(?:start|end)Of(?:Today|Tomorrow|Yesterday)|formatDistanceToNow\w*)\b/,
  /\bis(?:Past|Future|Today|Tomorrow|Yesterday|This[A-Z]\w*)\b/,
];

const DOMAIN: Layer = {
  folder: 'src/domain',
  folders: ['src/domain'],
  packages: ['date-fns'],
  forbiddenCode: [
    ...UNREPEATABLE,
    /\bsetImmediate\b/,
    /\bqueueMicrotask\b/,
    /\bperformance\./,
    /\bcrypto\./,
    /\bglobalThis\b/,
    /\bfetch\(/,
    /\basync\b/,
    /\bawait\b/,
    /\bPromise\b/,
  ],
};

const APPLICATION: Layer = {
  folder: 'src/application',
  folders: ['src/domain', 'src/application'],
  packages: ['date-fns'],
  forbiddenCode: [...UNREPEATABLE, /(?<!globalThis\.)\bsetImmediate\b/],
};

const ADAPTERS_FOLDER = 'src/adapters';

const BOOTSTRAP: Layer = {
  folder: 'src/bootstrap',
  folders: ['src/domain', 'src/application', ADAPTERS_FOLDER, 'src/bootstrap'],
  packages: 'any',
};

/** The other side of the interface: it knows of the service only what the document says, and runs outside of Node too. */
const CLIENT: Layer = {
  folder: 'src/client',
  folders: ['src/client'],
  packages: [],
  forbiddenCode: [/\bprocess\./, /\bconsole\./, /\bBuffer\b/, /\bNodeJS\./, /\bsetImmediate\b/],
};

/** Where a file may ask which database it talks to. */
const DATABASE_AWARE =
  /^src\/adapters\/knex\/(database|scratch-database|driver\/dialect|postgres\/postgres-dialect|sqlite\/sqlite-dialect)\.ts$/;
/** A quoted name of a client or dialect, as it stands in a check; an address such as `postgres://` is not one. */
const DATABASE_NAME = /(['"`])(better-sqlite3|sqlite3?|postgres|postgresql|pg)\1/;

const SPECIFIER =
  /\b(?:import|export)\b[^'"`;=()]*?\bfrom\s*(['"])([^'"]+)\1|\bimport\s*(['"])([^'"]+)\3|\b(?:import|require)\s*\(\s*(['"`])([^'"`]+)\5/g;

/** Everything `file` does that its layer forbids, one sentence each; empty when it keeps to the rules. */
export function violationsOf({ path, text }: SourceFile): readonly string[] {
  const layer = layerOf(path);
  if (layer === null) return ['belongs to no layer'];
  const code = withoutComments(text);
  const imports = specifiersOf(code).flatMap((specifier) => importViolations(layer, path, specifier));
  const calls = (layer.forbiddenCode ?? []).flatMap((pattern) => {
    const found = pattern.exec(withoutStrings(code));
    return found === null ? [] : [`must not use ${found[0]}`];
  });
  return [...imports, ...calls, ...databaseViolations(layer, path, code), ...timerViolations(layer, code)];
}

/**
 * Every circle among the folders in `root`, such as `src/domain`, as `a -> b -> a`, the first folder in alphabetical order;
 * empty when the imports between folders go one way.
 */
export function folderCircles(root: string, files: readonly SourceFile[]): readonly string[] {
  const folderOf = (path: string): string | null =>
    path.startsWith(`${root}/`) ? (/^([^/]+)\//.exec(path.slice(root.length + 1))?.[1] ?? null) : null;
  const imported = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const folder = folderOf(path);
    if (folder === null) continue;
    for (const specifier of specifiersOf(withoutComments(text))) {
      if (!specifier.startsWith('.')) continue;
      const target = folderOf(posix.join(posix.dirname(path), specifier));
      if (target === null || target === folder) continue;
      imported.set(folder, (imported.get(folder) ?? new Set()).add(target));
    }
  }
  const circles: string[] = [];
  const follow = (way: readonly string[]): void => {
    for (const next of [...(imported.get(way.at(-1) ?? '') ?? [])].sort()) {
      if (next === way[0]) circles.push([...way, next].join(' -> '));
      else if (next > (way[0] ?? '') && !way.includes(next)) follow([...way, next]);
    }
  };
  for (const folder of [...imported.keys()].sort()) follow([folder]);
  return circles;
}

const EXPORTED_VALUE = /^export (?:abstract |async )?(?:const|function|class) (\w+)/gm;

/** What the source exports and no other file names, as `path: name`. Types are left out: others may use them unnamed. */
export function unusedExports(files: readonly SourceFile[]): readonly string[] {
  const namedBy = new Map<string, number>();
  for (const { text } of files) {
    for (const name of new Set(text.match(/[A-Za-z_]\w*/g))) namedBy.set(name, (namedBy.get(name) ?? 0) + 1);
  }
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(EXPORTED_VALUE)].flatMap(([, name = '']) =>
        namedBy.get(name) === 1 ? [`${path}: ${name}`] : [],
      ),
    );
}

/** Every module a file names in an import, a re-export, an import type or a dynamic import. */
export function specifiersOf(code: string): readonly string[] {
  return [...code.matchAll(SPECIFIER)].flatMap((match) => match[2] ?? match[4] ?? match[6] ?? []);
}

function layerOf(path: string): Layer | null {
  const layer = [DOMAIN, APPLICATION, BOOTSTRAP, CLIENT].find(({ folder }) => isIn(path, folder));
  if (layer !== undefined) return layer;
  const [, , adapter, file] = path.split('/');
  if (!isIn(path, ADAPTERS_FOLDER) || adapter === undefined || file === undefined) return null;
  const folder = `${ADAPTERS_FOLDER}/${adapter}`;
  return {
    folder,
    folders: [DOMAIN.folder, APPLICATION.folder, folder],
    packages: 'any',
    forbiddenPackages: ['inversify', 'reflect-metadata'],
  };
}

function importViolations(layer: Layer, path: string, specifier: string): readonly string[] {
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier);
    return layer.folders.some((folder) => isIn(target, folder)) ? [] : [`must not import ${target}`];
  }
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const isAllowed =
    layer.packages === 'any'
      ? !(layer.forbiddenPackages ?? []).includes(name)
      : layer.packages.includes(name);
  return isAllowed ? [] : [`must not import ${specifier}`];
}

function databaseViolations(layer: Layer, path: string, code: string): readonly string[] {
  if (layer === BOOTSTRAP || DATABASE_AWARE.test(path)) return [];
  const names = specifiersOf(code);
  return code.split('\n').flatMap((line) => {
    const found = DATABASE_NAME.exec(line)?.[2];
    if (found === undefined) return [];
    const isImport = names.includes(found) && /\b(from|import|require)\b/.test(line);
    return isImport ? [] : [`must not ask for the database '${found}'`];
  });
}

/**
 * Global timers, and the global clock of `performance`, may be fake ones of a test runner, which nobody moves. The client has no
 * others: it may not import those of Node.
 */
function timerViolations(layer: Layer, code: string): readonly string[] {
  if (layer === DOMAIN || layer === APPLICATION || layer === CLIENT) return [];
  const imported = /import \{([^}]*)\} from 'node:timers(?:\/promises)?'/.exec(code)?.[1] ?? '';
  const names = ['setTimeout', 'setInterval', 'setImmediate'];
  const hasGlobalClock = /\bperformance\b/.test(code) && !code.includes("from 'node:perf_hooks'");
  return [
    ...names
      .filter((name) => new RegExp(`\\b${name}\\(`).test(code) && !imported.includes(name))
      .map((name) => `must import ${name} from node:timers`),
    ...(hasGlobalClock ? ['must import performance from node:perf_hooks'] : []),
  ];
}

function isIn(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Line and block comments become blank; strings, where `//` is part of an address, stay. */
function withoutComments(text: string): string {
  return text.replace(
    /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_, string: string | undefined) => string ?? ' ',
  );
}

/** Plain strings become empty; templates stay, for they can hold code. */
function withoutStrings(code: string): string {
  return code.replace(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, "''");
}
