// Completion scripts, made from the list of commands: the words that may follow each path, and its flags.
import type { Registry } from './command.ts';
import { globalsOf } from './globals.ts';
import { allFlags } from './input.ts';
import { childrenOf } from './registry.ts';

/** What may follow each path: `''` is the beginning, `invoice` its verbs, `invoice get` its flags. */
async function words(registry: Registry): Promise<Map<string, string[]>> {
  const { entries, aliases } = registry;
  const map = new Map<string, string[]>();
  const groups = new Set([
    '',
    ...entries.flatMap(({ path }) =>
      path
        .split(' ')
        .slice(0, -1)
        .map((_, index, all) => all.slice(0, index + 1).join(' ')),
    ),
  ]);
  for (const group of groups) map.set(group, childrenOf(registry, group === '' ? [] : group.split(' ')));
  for (const entry of entries) {
    const command = await entry.load();
    const own = allFlags(command);
    map.set(
      entry.path,
      [...own, ...globalsOf(command, own)].map(({ name }) => `--${name}`),
    );
  }
  for (const [alias, noun] of Object.entries(aliases))
    for (const [path, list] of [...map])
      if (path === noun || path.startsWith(`${noun} `)) map.set(alias + path.slice(noun.length), list);
  map.set('', [...(map.get('') ?? []), ...Object.keys(aliases), 'help']);
  return map;
}

const cases = (map: Map<string, string[]>, line: (path: string, words: string) => string): string =>
  [...map].map(([path, list]) => line(path, list.join(' '))).join('\n');

const bash = (map: Map<string, string[]>): string => `# bash completion of gw
_gw() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    path="\${path:+$path }$word"
  done
  local list=""
  case "$path" in
${cases(map, (path, list) => `    "${path}") list="${list}" ;;`)}
    *) case "\${path% *}" in
${cases(map, (path, list) => (path === '' ? '' : `      "${path}") list="${list}" ;;`))}
    esac ;;
  esac
  COMPREPLY=( $(compgen -W "$list" -- "$cur") )
}
complete -o default -F _gw gw`;

const zsh = (map: Map<string, string[]>): string => `#compdef gw
# zsh completion of gw
_gw() {
  local path="" word list=""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" == -* ]] && break
    path="\${path:+$path }$word"
  done
  case "$path" in
${cases(map, (path, list) => `    "${path}") list="${list}" ;;`)}
    *) case "\${path% *}" in
${cases(map, (path, list) => (path === '' ? '' : `      "${path}") list="${list}" ;;`))}
    esac ;;
  esac
  compadd -- \${=list}
}
if [ "$funcstack[1]" = "_gw" ]; then _gw "$@"; else compdef _gw gw; fi`;

const fish = (map: Map<string, string[]>): string => `# fish completion of gw
function __gw_path
  set -l found
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and break
    set -a found $word
  end
  string join ' ' $found
end
complete -c gw -f
${cases(map, (path, list) => `complete -c gw -n 'test "$(__gw_path)" = "${path}"' -a '${list}'`)}`;

const powershell = (map: Map<string, string[]>): string => `# PowerShell completion of gw
Register-ArgumentCompleter -Native -CommandName gw -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @{
${cases(map, (path, list) => `    '${path}' = '${list}'`)}
  }
  $path = @()
  foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
    $text = "$element"
    if ($text -like '-*' -or $text -eq $wordToComplete) { break }
    $path += $text
  }
  $list = $words[($path -join ' ')]
  if ($list) {
    $list -split ' ' | Where-Object { $_ -like "$wordToComplete*" } |
      ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
  }
}`;

const makers = { bash, zsh, fish, powershell };

export const scriptFor = async (registry: Registry, shell: keyof typeof makers): Promise<string> =>
  makers[shell](await words(registry));
