// Words that mean the same, for search: English, Spanish, Russian and Chinese to one term. `x*` means every word that begins so.

/** Words that say nothing about what is wanted. */
export const stopWords: ReadonlySet<string> = new Set(
  `a an the of for to in on at by with from into and or but if is are was be been do does did how what when where which who why whether can could should would will i me my mine we our us you your it its this that these those there here so as than then too very just please want need like some any all each one about via using without not no yes
  el la los las un una unos unas de del al a en con por para mi mis su sus que como se lo y o es son quiero hacer puedo
  как что где мой моя мои мне я в на с по для и или за из у не ли это можно нужно хочу какие какой
  have has had get s t re ve ll now way thing something what's doesn don`
    .split(/\s+/)
    .filter(Boolean),
);

/** Several words that are one: regular expressions without accents and capitals. */
export const phrases: Readonly<Record<string, string>> = {
  // Whole questions come first: what follows knows their words one by one.
  '(?:has|have|did|is|was)(?: \\p{L}+){1,4} (?:paid|pay)(?: (?:me|us|yet|already))*': 'ispaid',
  "(?:\\p{L}+n't|not|never|no)(?: been| being| get)? (?:arriv|com|reach|receiv|deliver|call|fir|show)\\p{L}*":
    'undelivered',
  'how much (?:do|does|will|would|is|are)(?: \\p{L}+){0,3} (?:charg|cost|tak|fee)\\p{L}*(?: me| us)?': 'fee',
  'where(?: \\p{L}+){0,3} (?:goes?|sent|land|lands|arrives?)': 'wallet',
  '(?:give|send|pay|get)(?: \\p{L}+){0,3} back|money back|refund\\p{L}*': 'refund',
  '(?:get|be|getting|being) paid': 'accept payment',
  "(?:\\p{L}+n't|not|no longer) (?:want|need)\\p{L}*(?: (?:it|this))?(?: any ?more)?|chang\\p{L}* (?:his|her|their|my) mind|back(?:ed|s)? out":
    'cancel invoice',
  'still(?: \\p{L}+){0,2} (?:unpaid|open|pending|waiting)|not (?:yet )?(?:seen|found|credited)': 'unseen',
  'payments? (?:counts?|(?:is )?(?:final|safe)|goes through|clears?)': 'payment confirmation',
  'really from|genuine|authentic': 'verify signature',
  'balances? (?:is )?(?:empty|low|gone|used up)|out of (?:balance|credits?|funds)': 'refill',
  '(?:transaction|tx)[ _-]?(?:ids?|hash\\p{L}*)': 'txid',
  '(?:rais|lower|increas|decreas|reduc)\\p{L}*(?: the| my| a)? prices?': 'update price',
  'ran out|run out|runs out|timed out': 'late',
  'top ?up|topping up|add (?:more )?(?:credits?|funds?)|buy (?:more )?(?:credits?|limit)': 'refill',
  'log(?:ging|ged)? ?-?(?:in|on)(?:to)?|sign(?:ing|ed)? ?-?in|iniciar sesion|inicio de sesion': 'login',
  'sign(?:ing|ed)? ?-?up|(?:create|make|open) (?:a |an |new |my )*acc?ounts?|new account|open an account|crear (?:una )?cuenta':
    'signup',
  'log ?out': 'logout',
  'who am i': 'me profile',
  'api[ _-]?keys?|merchant keys?|access keys?|api ключ\\p{L}*|clave (?:de )?api': 'apikey',
  'web ?hooks?': 'webhook',
  '(?:access|bearer|jwt) tokens?': 'bearer',
  'deep ?links?': 'link',
  'pay(?:ment)? links?|enlace de pago': 'payment link',
  'real[ -]?time|server[ -]sent|sse': 'stream',
  'call ?backs?': 'webhook',
  'command[ -]?line(?: tool)?|terminal|shell': 'cli',
  'too little|too few': 'underpaid',
  'too much': 'overpaid',
  'test ?(?:net|mode|network)': 'testnet',
  'main ?net': 'mainnet',
  'real money': 'money',
  'send (?:it |them )?(?:once )?again|re-?sen[dt]|re-?deliver\\p{L}*': 'resend',
  'web ?sites?': 'website',
  'charg(?:e|ing)(?= (?:an?|the|my|some|customers?|clients?|buyers?|someone) )|cobrar(?: a)?':
    'create invoice',
  tokens: 'gateway',
  '(?:to )?(?:bill|invoice) (?:a|an|the|my|some|someone|somebody|customers?|clients?)': 'create invoice',
  'how much|how many': 'amount',
  'blocks? ?chains?': 'blockchain',
  'e-?mails?': 'mail',
  'qr ?codes?': 'qr',
  'set ?up': 'set',
  'up and running|is up|service up': 'health',
};

/** Words of a question that texts use in another sense. */
export const asked: Readonly<Record<string, string>> = {
  show: 'list',
  see: 'list',
  view: 'list',
  display: 'list',
  all: 'list',
  every: 'list',
};

/** Words that nearly everything is about: they tell little apart. */
export const weak: ReadonlySet<string> = new Set([
  'buyer',
  'merchant',
  'payment',
  'me',
  'amount',
  'operator',
]);

/** What is to be done: it tells the calls on one thing apart. */
export const verbs: ReadonlySet<string> = new Set(
  'create list add set update delete cancel resend rotate check simulate buy resolve stop enable search reset'.split(
    ' ',
  ),
);

/** Two terms of a question that are one thing, in any language and order. */
export const pairs: readonly (readonly [string, string, string])[] = [
  ['create', 'account', 'signup'],
  ['create', 'user', 'signup'],
  ['stop', 'invoice', 'cancel'],
];

/** Questions for what a word means. */
export const definition =
  /^\s*(?:what(?:'s| is| are| does)|meaning of|explain|define|que (?:es|son)|что такое|что значит|объясни|什么是)/;

/** The term of each word, in any language and form. The term itself belongs to it. */
export const synonyms: Readonly<Record<string, string>> = {
  create:
    'make new generate start issue emit build emitir crear creo generar hacer nuevo nueva созда* сделать выстав* нов* 创建 新建 生成 开具',
  list: 'lists listar mostrar lista ver спис* показ* посмотр* 列出 列表 查看 查询 所有 全部',
  add: 'anadir agregar добав* 添加 新增',
  set: 'configure assign configurar establecer poner настро* установ* задать указать 设置 配置 设定',
  update:
    'change edit modify rename alter adjust cambiar editar modificar actualizar измен* смен* редакт* обнов* 修改 更改 更新 编辑',
  delete: 'remove erase discontinue drop destroy close eliminar borrar quitar удал* убрать 删除 移除 关闭',
  cancel: 'void abort kill revoke cancelar anular отмен* 取消 作废',
  resend: 'redeliver replay repeat reenviar повтор* 重新发送 重发 再次发送',
  rotate: 'regenerate renew replace leaked compromised stolen rotar перевыпус* 轮换 重置密钥',
  verify: 'verificar validate',
  check: 'recheck refresh poll comprobar revisar провер* 检查 核对 确认付款',
  simulate: 'fake mock pretend emulate simular симул* имит* 模拟',
  buy: 'purchase comprar compra купить покуп* 购买',
  resolve: 'fix stuck reconcile resolver разреш* 处理',
  stop: 'deactivate disable pause suspend unavailable',
  enable: 'activate allow habilitar включ* 启用',
  accept: 'take takes taking accepted accepts accepting acept* принима* 接受',
  search: 'find lookup look buscar encontrar поиск найти искать 搜索 查找',
  invoice:
    'invoices bill bills billing charge charges factura* cobrar cobro счет* счёт* инвойс* 发票 账单 收款单 订单',
  payment:
    'pay pays paid payments paying transaction transfer pago pagos pagar оплат* платеж* платёж* 付款 支付 收款',
  unit: 'units product products offer offers item items good goods listing producto* oferta* articulo* товар* продукт* предложен* 商品 产品',
  wallet:
    'wallets payout address addresses billetera* monedero* cartera direccion* кошел* кошёл* адрес* 钱包 地址',
  refill: 'topup recharge replenish recargar recarga пополн* 充值 续费',
  balance: 'balances saldo баланс* остат* 余额',
  limit: 'limits quota allowance remaining limite лимит* 额度 限额',
  income:
    'earnings earned earn revenue sales sale sold proceeds turnover ingresos ventas ganancia* доход* продаж* выруч* 收入 销售',
  history:
    'accountant accounting bookkeeper bookkeeping tax taxes report reports records statement export historial informe истори* отчет* отчёт* 记录 历史 报表',
  gateway:
    'gateways coin coins currency currencies token tokens chain chains crypto cryptocurrency supported monedas moneda criptomoneda* валют* монет* крипт* 币种 货币 币 加密货币',
  blockchain: 'blockchains network networks red redes блокчейн* сеть сети 区块链 网络 链',
  user: 'users usuario* пользоват* 用户',
  signup: 'register registration enroll join registrar* registro регистр* зарегистр* 注册',
  login: 'signin authenticate authentication entrar acceder войти вход авториз* логин 登录 登陆',
  password: 'passwords contrasena* clave парол* 密码',
  forgot: 'forget forgotten lost recover recovery olvide olvidado recuperar забыл* восстан* 忘记 找回',
  reset: 'restablecer сброс* 重置',
  mail: 'email mails correo почт* 邮箱 邮件 电子邮件',
  account: 'accounts cuenta* аккаунт* учетн* 账号 账户 帐号',
  merchant: 'merchants seller sellers shop vendor comerciante* продав* магазин* 商户 商家',
  buyer:
    'buyers customer customers client clients payer comprador* cliente* покупател* клиент* 买家 客户 顾客',
  webhook: 'webhooks notification notifications notify notified notificacion* уведомлен* вебхук* 通知 回调',
  receive: 'recibir 接收 收到',
  event: 'events evento* событи* 事件',
  stream: 'streaming live follow watch',
  embed: 'embedded embedding widget integrate insertar incrustar встро* встав* виджет* 嵌入 集成',
  website: 'site webpage homepage sitio сайт* 网站 网页',
  snippet: 'code html markup tag javascript js script scripts codigo код* скрипт* 代码',
  link: 'links url urls enlace* ссыл* 链接',
  page: 'pages pagina* страниц* 页面 页',
  apikey: 'clave_api апи-ключ 密钥 api密钥',
  bearer: 'jwt',
  token: 'токен* 令牌',
  price: 'prices cost precio* цен* 价格',
  status: 'state estado статус* состоян* 状态',
  testnet: 'sandbox demo trial try pruebas тестов* песочниц* 测试网 测试',
  fee: 'fees commission percent comision* tarifa* комисси* 手续费 费用',
  confirmation: 'confirmations confirmaciones подтвержд* 确认数 确认',
  memo: 'comment memos мемо комментар* 备注',
  underpaid: 'underpayment partial insufficient недоплат* 少付',
  overpaid: 'overpayment переплат* 多付',
  late: 'later expired expiry expire expires expiration vencido просроч* истек* 过期 逾期',
  unmatched: 'unknown orphan unassigned',
  health: 'alive uptime running status_up healthy здоров* 健康',
  docs: 'documentation reference manual documentacion документац* 文档',
  openapi: 'schema spec specification',
  mcp: 'tools model context protocol',
  agent: 'agents bot bots агент* бот* 机器人',
  cli: 'gw',
  error: 'errors refusal refused failure fails mean means ошибк* 错误',
  idempotency: 'idempotent twice duplicate duplicates retry retries double',
  rate_limit: 'throttle throttling 429',
  money: 'funds cash dinero деньг* 资金 钱',
  hold: 'custody custodial keep own holding',
  me: 'myself',
  profile: 'perfil профил* 资料',
  name: 'title titel имя назван* 名称',
  logo: 'icon favicon logotype логотип* 标志',
  qr: 'scan barcode куар* 二维码',
  config: 'configuration settings setting deployment конфигурац* 配置信息',
  operator: 'admin administrator superuser админ* оператор* 管理员',
  dashboard: 'overview figures statistics stats metrics статистик* 仪表盘',
  credit: 'grant gift bonus',
  observer: 'observers watcher scanner behind sync lag',
  telegram: 'tg messenger телеграм* 电报',
  google: 'gmail гугл* 谷歌',
  capability: 'capabilities features catalogue catalog каталог* 目录 功能',
  signature: 'hmac sign signed signing firma подпис* 签名',
  wrong: 'mistake incorrect mistaken forgot_memo ошибочн*',
  checkout: 'cashier kassa касс* 收银台 结账',
  fragment: 'div partial_html',
};
