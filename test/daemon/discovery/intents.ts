// What people and programs ask for in their own words, and the entries that serve them; the first named is the best.

/** One line each: the words, then the ids that are right answers. */
const lines = `
has my customer paid | getInvoice getPublicInvoice
webhook did not arrive | guide.webhooks
customer sent too little | guide.wrong-payment concept.amount-match
a buyer paid too much, what now | guide.wrong-payment concept.amount-match
how do I give money back | guide.wrong-payment concept.non-custodial
change where my money goes | setMerchantWallet updateMerchantAccount
which coins can I take | listGateways concept.gateway
put a pay button on my website | flow.embed
show me the sales of this month | listIncome getFigures
he sent the money but the order still says unpaid | explain claimPayment listClaims
how much do you charge me | concept.fees
somebody stole my api key | rotateApiKey
stop selling something for a while | updateUnit
order ran out but he paid later | concept.late-payment guide.wrong-payment
how long until a payment counts | concept.confirmations
try it out without real money | flow.try-on-testnet
numbers for my accountant | exportAccount listIncome listLedger getFigures
I want to get paid in bitcoin | flow.sell-with-invoice listGateways setMerchantWallet
is this webhook really from you | guide.webhooks
send me the webhook again | resendEvent
buyer does not want it any more | cancelInvoice
I forgot my password | recoverPassword resetPassword
my balance is empty | createRefill flow.top-up
close my account | deleteMe
customer gives me a transaction id | explain claimPayment
raise the price of my product | updateUnit
create an invoice | createInvoice flow.sell-with-invoice
make a new bill for an order | createInvoice flow.sell-with-invoice
charge a customer 25 dollars in usdt | createInvoice flow.sell-with-invoice
i want to request a payment in bitcoin | createInvoice flow.sell-with-invoice
creat invioce | createInvoice flow.sell-with-invoice
new paymnet request | createInvoice flow.sell-with-invoice
generate payment address for order | createInvoice flow.sell-with-invoice
how do i accept crypto for an order | flow.sell-with-invoice createInvoice flow.sell-with-link
list my invoices | listInvoices
show all invoices that are still open | listInvoices
find an invoice by my order reference | listInvoices
lst invoces | listInvoices
invoices filtered by status | listInvoices
is my invoice paid | getInvoice getPublicInvoice checkInvoice
get status of an invoice | getInvoice getPublicInvoice
read one invoice | getInvoice getPublicInvoice
invoice detials | getInvoice getPublicInvoice
customer says he paid, check the blockchain now | checkInvoice
force a chain poll for an invoice | checkInvoice
recheck if payment arrived | checkInvoice resolvePayment
chekc payment on chain | checkInvoice
simulate a payment | simulateInvoice
fake a payment in test mode | simulateInvoice flow.try-on-testnet
settle invoice without paying on testnet | simulateInvoice flow.try-on-testnet
simulte pyament | simulateInvoice
cancel an invoice | cancelInvoice
void a bill nobody paid | cancelInvoice
abort checkout | cancelInvoice
cancle invoice | cancelInvoice
which coins are supported | listGateways
list currencies and chains | listGateways concept.gateway
what tokens can customers pay with | listGateways
supportd blockchains | listGateways
available gateways | listGateways
minimum confirmations of each chain | listGateways concept.confirmations
is this testnet or mainnet | getPublicConfig concept.demo-mode
public config of the deployment | getPublicConfig
is demo mode turned on | getPublicConfig concept.demo-mode
configuratoin | getPublicConfig
show a product to a buyer | getUnit unitShort unitPage page.unit
get unit details | getUnit
buy a unit | checkoutUnit flow.buy
start checkout for a product | checkoutUnit flow.buy
purchase an offer as an agent | flow.buy checkoutUnit
chekout unit | checkoutUnit
see transaction id and confirmations of a payment | getInvoicePayment concept.confirmations
payment history log of an invoice | getInvoicePayment
payment logs | getInvoicePayment
link to open a web wallet | getWebExit concept.exits
telegram wallet deeplink for payment | getTgExit concept.exits
pay with telegram wallet | getTgExit
web walet link | getWebExit concept.exits
list my products | listUnits
show my offers | listUnits
create a product with a fixed price | createUnit flow.sell-with-link
add a new unit | createUnit
create payment link for a product | createUnit flow.sell-with-link
creat untis | createUnit
change price of a product | updateUnit
deactivate a unit | updateUnit
rename my offer | updateUnit
edit unit titel | updateUnit
remove a product | deleteUnit
delete unit | deleteUnit
delte my offer | deleteUnit
get my api key | getMerchantAccount guide.authentication
where is my merchant key | getMerchantAccount guide.authentication
show merchant account | getMerchantAccount
acount settings | getMerchantAccount updateMerchantAccount
how much limit do i have left | getMerchantAccount concept.limit getBalances
set my webhook url | updateMerchantAccount flow.receive-webhooks
change webhook secret | updateMerchantAccount
enable only usdt and ton | updateMerchantAccount
change my slug | updateMerchantAccount
set webhok adress | updateMerchantAccount flow.receive-webhooks
regenerate api key | rotateApiKey
my key leaked, make a new one | rotateApiKey
rotate merchant key | rotateApiKey
roate api kye | rotateApiKey
show my wallets | getMerchantWallets
which wallet addresses are missing | getMerchantWallets
list receive addresses | getMerchantWallets
add a wallet | setMerchantWallet
set my bitcoin address | setMerchantWallet
change payout address for solana | setMerchantWallet
where should money be sent, configure receiving wallet | setMerchantWallet
set walet addres | setMerchantWallet
my balance | getBalances
how much have i earned | getBalances listIncome
prepaid balance | getBalances concept.limit
blance | getBalances
top up my account | createRefill flow.top-up
refill prepaid balance | createRefill flow.top-up
add credits to keep accepting payments | createRefill flow.top-up
buy more limit | createRefill flow.top-up
topup balnce | createRefill flow.top-up
http 402 limit exhausted what now | flow.top-up createRefill concept.limit guide.errors
where do refills go, platform refill addresses | getRefillWallets
refill wallets | getRefillWallets
income report for january | listIncome
sales history | listIncome
list confirmed sales with fees | listIncome
export my earnings by date | listIncome
incom histroy | listIncome
get embed code | getEmbedPreview flow.embed embed.unit-script
embed checkout into my website | flow.embed getEmbedPreview embed.unit-script
html snippet for buy button | getEmbedPreview flow.embed embed.unit-script
embeded widget | getEmbedPreview flow.embed embed.unit-script embedScript
javascript tag for checkout | embedScript embed.unit-script embed.invoice-script flow.embed
preview my payment page | getPaymentPage
why can buyers not pay on my page | getPaymentPage
list events | listEvents
stream events in real time | listEvents guide.follow-payments
server sent events of my account | listEvents guide.follow-payments
what happened since my last event | listEvents
resend a webhook | resendEvent
redeliver missed notification | resendEvent
webhook was not delivered, send it again | resendEvent
reesnd event | resendEvent
verify webhook signature | guide.webhooks
how to check hmac of a webhook | guide.webhooks
get notified when an invoice is paid | flow.receive-webhooks guide.follow-payments
recieve webhooks | flow.receive-webhooks
poll instead of webhooks | guide.follow-payments
sign up | signup
register a new account | signup
create acount | signup
log in with email and password | loginAccessToken
get a bearer token | loginAccessToken guide.authentication
sign in | loginAccessToken
loign | loginAccessToken
oauth2 password flow token | loginAccessToken guide.authentication
sign in with google | loginGoogle
google login | loginGoogle
log in via telegram | loginTelegram
telegarm login | loginTelegram
does this email sign in with google or password | detectIdentitySource
check whether my token is valid | testToken
forgot my password | recoverPassword
reset pasword | resetPassword recoverPassword
send recovery email | recoverPassword
set a new password with the token from the mail | resetPassword
who am i | getMe
my user profile | getMe
change my email address | updateMe
update my name | updateMe
change password | updateMyPassword
chnage pasword | updateMyPassword
delete my account | deleteMe
close my acount for good | deleteMe
qr code of an invoice | payQrSvg payQrPng
qr png image | payQrPng
download qr as svg | payQrSvg
checkout page for an invoice | payShort payPage page.checkout
hosted payment page | payShort payPage page.checkout page.unit
html fragment of checkout | payDiv embed.invoice-fragment unitDiv embed.unit-fragment
logo image | logoImage currencyLogo
health check | getHealth healthCheck getReadiness getLiveness
is the service up | getHealth healthCheck getReadiness getLiveness
helth | getHealth healthCheck getReadiness getLiveness
openapi spec | getOpenApi
swagger docs | getDocs page.docs
api reference to read | getRedoc page.redoc
download the openapi json | getOpenApi
llms.txt | getLlmsTxt
sitemap | getSitemap
robots txt | getRobotsTxt
agent manifest | getAgentManifest
what can this service do | getCatalog guide.agents
search for an endpoint by intent | searchCatalog
connect a client over mcp | guide.mcp
model context protocol server | guide.mcp
command line tool | guide.gw
error codes | guide.errors
what does no_wallet mean | guide.errors setMerchantWallet createInvoice
idempotency key | guide.idempotency
avoid creating the same invoice twice on retry | guide.idempotency
rate limits | guide.limits
buyer paid too little | concept.amount-match guide.wrong-payment
customer underpaid the invoice | concept.amount-match guide.wrong-payment
payment arrived after expiry | concept.late-payment guide.wrong-payment
buyer forgot the memo | guide.wrong-payment concept.memo
what is a memo | concept.memo
what is a unit | concept.unit
how many confirmations are needed | concept.confirmations listGateways
what fees do i pay | concept.fees
do you hold my money | concept.non-custodial
try it without real money | flow.try-on-testnet concept.demo-mode simulateInvoice
crear una factura | createInvoice flow.sell-with-invoice
cobrar a un cliente en usdt | createInvoice flow.sell-with-invoice
cancelar factura | cancelInvoice
ver mi saldo | getBalances
recargar saldo | createRefill flow.top-up
configurar mi billetera de bitcoin | setMerchantWallet
crear un producto | createUnit flow.sell-with-link
iniciar sesión | loginAccessToken
olvidé mi contraseña | recoverPassword
registrarse | signup
monedas disponibles | listGateways
historial de ventas | listIncome
recibir notificaciones de pago | flow.receive-webhooks
создать счёт на оплату | createInvoice flow.sell-with-invoice
проверить оплату | checkInvoice
отменить счет | cancelInvoice
мой баланс | getBalances
пополнить баланс | createRefill flow.top-up
добавить кошелёк | setMerchantWallet
войти в систему | loginAccessToken
регистрация | signup
забыл пароль | recoverPassword
какие валюты поддерживаются | listGateways
создать товар | createUnit flow.sell-with-link
получить api ключ | getMerchantAccount guide.authentication
вебхуки | flow.receive-webhooks guide.webhooks updateMerchantAccount
удалить товар | deleteUnit
创建发票 | createInvoice flow.sell-with-invoice
取消发票 | cancelInvoice
查询余额 | getBalances
充值 | createRefill flow.top-up
设置钱包地址 | setMerchantWallet
登录 | loginAccessToken
注册账号 | signup
忘记密码 | recoverPassword
支持哪些币种 | listGateways
创建商品 | createUnit flow.sell-with-link
查看收入记录 | listIncome
嵌入网站 | flow.embed getEmbedPreview embed.unit-script
重新发送通知 | resendEvent
issue an invoice for 40 usd payable in solana | createInvoice
i need to bill someone | createInvoice flow.sell-with-invoice
has the customer paid yet | getInvoice checkInvoice getInvoicePayment getPublicInvoice
look up order 1001 | listInvoices
kill an unpaid invoice | cancelInvoice
accepted cryptocurrencies | listGateways
is USDC on solana supported | listGateways concept.gateway
price list of my shop | listUnits
discontinue an item | deleteUnit updateUnit
make item unavailable for a while | updateUnit
where do i paste my ton address | setMerchantWallet
update btc receiving adress | setMerchantWallet
how to get paid into my own wallet | setMerchantWallet concept.non-custodial
what is my remaining quota | getMerchantAccount concept.limit
pay the platform to raise my limit | createRefill flow.top-up
monthly revenue | listIncome
fees i was charged for each sale | listIncome concept.fees
embed on wordpress | flow.embed getEmbedPreview embed.unit-script
iframe or script for store | getEmbedPreview flow.embed embed.unit-script embedScript
configure notification endpoint | updateMerchantAccount flow.receive-webhooks
webhook secret rotation | updateMerchantAccount
replay a failed webhook | resendEvent
live feed of payments | listEvents guide.follow-payments
make an account | signup
join | signup
obtain jwt | loginAccessToken guide.authentication
authentication | guide.authentication loginAccessToken
password lost | recoverPassword
new password | updateMyPassword resetPassword
erase my profile | deleteMe
qr for paying | payQrSvg payQrPng
show buyers a page to pay | payShort payPage page.checkout
testing without crypto | flow.try-on-testnet simulateInvoice concept.demo-mode
pretend the invoice was paid | simulateInvoice
machine readable description of api | getOpenApi
mcp | guide.mcp
what does error 402 mean | guide.errors concept.limit flow.top-up
what does memo mean | concept.memo
how long does an invoice stay open | concept.invoice concept.late-payment concept.gateway
confirmations bitcoin | concept.confirmations listGateways
partial payment | concept.amount-match guide.wrong-payment
refund | concept.non-custodial guide.wrong-payment
withdraw my money | concept.non-custodial
kyc | guide.agents
emitir una factura en bitcoin | createInvoice
¿qué monedas aceptan? | listGateways
cambiar contraseña | updateMyPassword
eliminar mi cuenta | deleteMe
comprobar si pagaron la factura | checkInvoice getInvoice
выставить счёт клиенту | createInvoice
сменить пароль | updateMyPassword
история продаж | listIncome
встроить оплату на сайт | flow.embed getEmbedPreview
список счетов | listInvoices
检查付款 | checkInvoice getInvoicePayment
修改密码 | updateMyPassword
列出发票 | listInvoices
删除商品 | deleteUnit
take payment of 10 ton for order 55 | createInvoice flow.sell-with-invoice
accept btc on my site | flow.embed flow.sell-with-invoice flow.sell-with-link createInvoice
did the money arrive | checkInvoice getInvoice getInvoicePayment
invoices that expired | listInvoices
stop an invoice | cancelInvoice
supported networks | listGateways getPublicConfig concept.demo-mode
edit product description | updateUnit
my shop items | listUnits
share a link to buy my ebook | flow.sell-with-link createUnit unitShort page.unit
replace eth wallet | setMerchantWallet
wallets overview | getMerchantWallets
prepaid credit left | getBalances getMerchantAccount concept.limit
how do refills work | flow.top-up createRefill concept.limit getRefillWallets
turnover last week | listIncome
webhook url | updateMerchantAccount flow.receive-webhooks
was my webhook delivered | listEvents listIncome resendEvent flow.receive-webhooks
validate webhook | guide.webhooks
event history | listEvents
regster user | signup
get token | loginAccessToken guide.authentication
change mail | updateMe
reset forgotten password | recoverPassword resetPassword
current user | getMe
svg qr | payQrSvg
swagger | getDocs page.docs
openapi.json | getOpenApi
system health | getHealth healthCheck getReadiness getLiveness
overpaid | concept.amount-match guide.wrong-payment
commission | concept.fees
double charge on network retry | guide.idempotency
error format | guide.errors
cuenta nueva | signup
añadir billetera | setMerchantWallet
reenviar webhook | resendEvent
изменить цену товара | updateUnit
сделать тестовый платёж | simulateInvoice flow.try-on-testnet
список кошельков | getMerchantWallets
模拟付款 | simulateInvoice
创建账号 | signup
更改价格 | updateUnit
list merchants | listAdminMerchants
operator dashboard | getAdminDashboard flow.operate
credit a merchant by hand | creditMerchant
check signatures of platform callbacks | getWebhookSecret
let my own shop sell without fee and limit | setHouse
resolve a stuck payment | resolvePayment
are the chain observers behind | listObservers
late and unmatched payments | listAdminPayments guide.wrong-payment concept.late-payment
set platform refill wallet | setAdminRefillWallet
list all users | listUsers
make someone a superuser | createUser updateUser
send a test email | testEmail
`;

export interface Intent {
  query: string;
  right: string[];
  /** Served by operator entries only. */
  hidden: boolean;
}

const OPERATOR =
  /^(list merchants|operator|credit a|resolve a|are the chain|late and|set platform|list all users|make someone|send a test)/;

export const intents: Intent[] = lines
  .trim()
  .split('\n')
  .map((line) => {
    const [query = '', right = ''] = line.split(' | ');
    return { query, right: right.split(' '), hidden: OPERATOR.test(query) };
  });
