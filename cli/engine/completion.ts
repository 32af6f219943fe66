// Completion scripts, made from a table: what may follow each path, its flags, and the words of a value.
import { readFileSync } from 'node:fs';
import { BUILT_TABLE } from '../built.ts';

/**
 * `follow`: what may follow a path: `''` is the beginning, `invoice` its verbs, `invoice get` its flags. `values`: the words
 * that a flag or a place takes: `invoice list --status`, `completion #0`, and `--color` for every command.
 */
export interface Table {
  follow: Map<string, readonly string[]>;
  values: Map<string, readonly string[]>;
  /** Flags behind which a value stands, in every command that has them. */
  valued: readonly string[];
}

const lines = (map: Map<string, readonly string[]>, line: (key: string, words: string) => string): string =>
  [...map].map(([key, list]) => line(key, list.join(' '))).join('\n');

/** The walk over the words that stand there is the same in every shell: path, places, and a flag that waits for its value. */
const bash = ({ follow, values, valued }: Table): string => `# bash completion of gw
_gw_follow() {
  case "$1" in
${lines(follow, (path, list) => `    "${path}") found="${list}" ;;`)}
    *) return 1 ;;
  esac
}
_gw_values() {
  case "$1" in
${lines(values, (key, list) => `    "${key}") found="${list}" ;;`)}
    *) return 1 ;;
  esac
}
_gw() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" place=0 flag="" word found=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [ -n "$flag" ]; then flag=""; continue; fi
    case "$word" in
      -*) case " ${valued.join(' ')} " in *" $word "*) flag="$word" ;; esac ;;
      *) if [ "$place" -eq 0 ] && _gw_follow "\${path:+$path }$word"; then path="\${path:+$path }$word"
         else place=$((place + 1)); fi ;;
    esac
  done
  found=""
  if [ -n "$flag" ]; then _gw_values "$path $flag" || _gw_values "$flag"
  else case "$cur" in
    -*) _gw_follow "$path" ;;
    *) _gw_values "$path #$place" || _gw_follow "$path" ;;
  esac; fi
  COMPREPLY=( $(compgen -W "$found" -- "$cur") )
}
complete -o default -F _gw gw`;

const zsh = ({ follow, values, valued }: Table): string => `#compdef gw
# zsh completion of gw
_gw_follow() {
  case "$1" in
${lines(follow, (path, list) => `    "${path}") found="${list}" ;;`)}
    *) return 1 ;;
  esac
}
_gw_values() {
  case "$1" in
${lines(values, (key, list) => `    "${key}") found="${list}" ;;`)}
    *) return 1 ;;
  esac
}
_gw() {
  local path="" place=0 flag="" word found=""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n "$flag" ]]; then flag=""; continue; fi
    if [[ "$word" == -* ]]; then
      if [[ " ${valued.join(' ')} " == *" $word "* ]]; then flag="$word"; fi
    elif (( place == 0 )) && _gw_follow "\${path:+$path }$word"; then path="\${path:+$path }$word"
    else (( place += 1 )); fi
  done
  found=""
  if [[ -n "$flag" ]]; then _gw_values "$path $flag" || _gw_values "$flag"
  elif [[ "\${words[CURRENT]}" == -* ]]; then _gw_follow "$path"
  else _gw_values "$path #$place" || _gw_follow "$path"; fi
  compadd -- \${=found}
}
if [ "$funcstack[1]" = "_gw" ]; then _gw "$@"; else compdef _gw gw; fi`;

const fishCases = (map: Map<string, readonly string[]>): string =>
  [...map].map(([key, list]) => `    case '${key}'\n      printf '%s\\n' ${list.join(' ')}`).join('\n');

const fish = ({ follow, values, valued }: Table): string => `# fish completion of gw
function __gw_follow
  switch "$argv[1]"
${fishCases(follow)}
    case '*'
      return 1
  end
end
function __gw_values
  switch "$argv[1]"
${fishCases(values)}
    case '*'
      return 1
  end
end
function __gw_complete
  set -l path ''
  set -l place 0
  set -l flag ''
  for word in (commandline -opc)[2..-1]
    if test -n "$flag"
      set flag ''
    else if string match -q -- '-*' $word
      contains -- $word ${valued.join(' ')}; and set flag $word
    else if test $place -eq 0; and __gw_follow (string trim "$path $word") >/dev/null
      set path (string trim "$path $word")
    else
      set place (math $place + 1)
    end
  end
  if test -n "$flag"
    __gw_values "$path $flag"; or __gw_values $flag
  else if string match -q -- '-*' (commandline -ct)
    __gw_follow "$path"
  else
    __gw_values "$path #$place"; or __gw_follow "$path"
  end
end
complete -c gw -f -a '(__gw_complete)'`;

const powershell = ({ follow, values, valued }: Table): string => `# PowerShell completion of gw
Register-ArgumentCompleter -Native -CommandName gw -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $follow = @{
${lines(follow, (key, list) => `    '${key}' = '${list}'`)}
  }
  $values = @{
${lines(values, (key, list) => `    '${key}' = '${list}'`)}
  }
  $valued = '${valued.join(' ')}' -split ' '
  $path = ''; $place = 0; $flag = ''
  foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
    if ($element.Extent.EndOffset -ge $cursorPosition -and $wordToComplete) { break }
    $text = "$element"
    $longer = "$path $text".Trim()
    if ($flag) { $flag = '' }
    elseif ($text -like '-*') { if ($valued -contains $text) { $flag = $text } }
    elseif ($place -eq 0 -and $follow.ContainsKey($longer)) { $path = $longer }
    else { $place += 1 }
  }
  $list = if ($flag) { if ($values["$path $flag"]) { $values["$path $flag"] } else { $values[$flag] } }
    elseif ($wordToComplete -notlike '-*' -and $values["$path #$place"]) { $values["$path #$place"] }
    else { $follow[$path] }
  if ($list) {
    $list -split ' ' | Where-Object { $_ -like "$wordToComplete*" } |
      ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
  }
}`;

const makers = { bash, zsh, fish, powershell };

type Shell = keyof typeof makers;

export const scriptOf = (table: Table, shell: string): string => makers[shell as Shell](table);

/** The table of the build; undefined for another shell, and where nothing is built. */
export function builtTable(shell: string): Table | undefined {
  // The sources may have changed since.
  if (import.meta.url.endsWith('.ts') || !Object.hasOwn(makers, shell)) return undefined;
  try {
    const { follow, values, valued } = JSON.parse(readFileSync(BUILT_TABLE, 'utf8'));
    return { follow: new Map(follow), values: new Map(values), valued };
  } catch {
    return undefined;
  }
}
