/**
 * Words that change the value of the number before them, in languages that envs/answers/label-words.ts does not cover:
 * hundreds to billions, dozens, halves, thirds and quarters, squares, and words that begin a bound. A number before one
 * of them is refused, because ignoring the word, as one ignores a unit, would change the value.
 */

const split = (words: string): readonly string[] => words.split(" ");

export const SCALES_ABROAD: ReadonlySet<string> = new Set([
  // Dutch, Afrikaans.
  ...split("honderd honderden duizend duizenden duisend miljoen miljoenen miljard miljarden dozijn tientallen"),
  ...split("helft halve anderhalf derde kwart kwadraat meer minder keer maal"),
  // Swedish, Danish, Norwegian, Icelandic.
  ...split("hundra hundre hundrede tusen tusende tusind þúsund miljon miljoner million millioner milljón milljónir"),
  ...split("miljard miljarder milliard milliarder dussin dusin halv halva halvt tredjedel fjärdedel fjerdedel"),
  ...split("kvadrat kvadrerat mera mindre eller"),
  // Finnish, Estonian.
  ...split(
    "sata sataa tuhat tuhatta miljoona miljoonaa miljardi miljardia tusina puoli puolikasta kolmasosaa neljäsosaa",
  ),
  ...split("sada miljonit miljardit miljonid tosin neliö tai enemmän vähemmän"),
  // Polish.
  ...split("sto setki setek tysiąc tysiące tysięcy milion miliony milionów miliona miliard miliardy miliardów tuzin"),
  ...split("połowa połowy pół trzecich ćwierć kwadracie więcej mniej lub albo"),
  // Czech, Slovak.
  ...split("sta stovky stovek tisíc tisíce tisícov milión milióny miliónov milionu miliarda miliardy miliárd miliard"),
  ...split("tucet polovina polovice polovica půl třetiny čtvrtiny tretiny štvrtiny nebo alebo více viac méně menej"),
  // Croatian, Serbian, Slovene, Bulgarian, Macedonian, Ukrainian, Belarusian.
  ...split("stotina stotine hiljada hiljade hiljadu tisuća tisuće tisuću tisoč milijun milijuna milijuni milijon"),
  ...split("milijona milijonov milijarda milijarde milijardi milijardu tuce polovina polovica ili ali više več manje"),
  ...split("хиљада хиљаде хиљаду милион милиона милијарда милијарди хиляда хиляди милиони милиард милиарда стотици"),
  ...split("сотня сотні сотень тисяча тисячі тисяч мільйон мільйони мільйонів мільярд мільярди мільярдів дюжина"),
  ...split("половина половини третини чверть чверті більше менше або тысяча тысячы тысяч мільён мільёнаў повече"),
  // Romanian, Catalan, Galician.
  ...split("sute mii mie milion milioane miliard miliarde duzină jumătate treimi sferturi pătrat sau"),
  ...split("milers milió milions mil·lió mil·lions miliard dotzena meitat terços més menys"),
  // Hungarian.
  ...split("száz ezer millió milliárd tucat fél harmad negyed négyzet négyzeten vagy több kevesebb"),
  // Greek.
  ...split("εκατό εκατοντάδες χίλια χιλιάδες εκατομμύριο εκατομμύρια δισεκατομμύριο δισεκατομμύρια ντουζίνα μισό ή"),
  // Turkish, Azerbaijani, Kazakh, Uzbek.
  ...split("yüz bin milyon milyar trilyon düzine yarım buçuk çeyrek karesi veya daha mln mlrd мың миллион"),
  // Indonesian, Malay, Filipino.
  ...split(
    "ratus ribu juta jutaan miliar milyar bilion triliun lusin setengah separuh perempat kuadrat atau lebih kurang",
  ),
  ...split("daan libo libong milyong milyon bilyon dosena kalahati"),
  // Vietnamese, if the lexer reads the letters as one word.
  ...split("trăm nghìn ngàn triệu tỷ tỉ tá nửa rưỡi hoặc hơn"),
  // Swahili.
  ...split("mia elfu milioni bilioni nusu robo zaidi"),
  // Arabic, Persian, Urdu, Hebrew.
  ...split("مئة مائة مئات ألف آلاف الف مليون ملايين مليار مليارات نصف ثلث ربع أو دزينة صد هزار میلیون میلیارد نیم یا"),
  ...split("سو ہزار لاکھ کروڑ ملین ارب آدھا מאה מאות אלף אלפים מיליון מיליונים מיליארד חצי שליש רבע או"),
  // Hindi, Marathi, Bengali, Tamil, Telugu, Thai.
  ...split("सौ हज़ार हजार लाख करोड़ अरब मिलियन आधा आधे या दर्जन শত হাজার লাখ লক্ষ কোটি মিলিয়ন অর্ধেক বা"),
  ...split("ஆயிரம் லட்சம் கோடி மில்லியன் వేల వేలు లక్ష లక్షలు కోటి కోట్లు ร้อย พัน หมื่น แสน ล้าน พันล้าน ครึ่ง โหล หรือ"),
]);
