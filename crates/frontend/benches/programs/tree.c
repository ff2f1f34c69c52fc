/* Keeps numbers in a search tree and in a list, node by node on the heap. */

void *malloc(unsigned long);
void free(void *);

struct node {
    long key;
    struct node *left, *right;
    int count;
};

struct item {
    struct item *next;
    long key;
};

static unsigned seed = 1;

static long next(void)
{
    seed = seed * 1103515245u + 12345u;
    return (long)(seed >> 8) % 5000;
}

static struct node *insert(struct node *node, long key)
{
    if (!node) {
        node = malloc(sizeof *node);
        node->key = key;
        node->left = node->right = 0;
        node->count = 1;
    } else if (key < node->key) {
        node->left = insert(node->left, key);
    } else if (key > node->key) {
        node->right = insert(node->right, key);
    } else {
        node->count++;
    }
    return node;
}

static unsigned long sum(const struct node *node)
{
    return node ? sum(node->left) * 3 + (unsigned long)(node->key * node->count) + sum(node->right) : 0;
}

static void release(struct node *node)
{
    if (node) {
        release(node->left);
        release(node->right);
        free(node);
    }
}

unsigned long bench(void)
{
    unsigned long result = 0;
    for (int round = 0; round < 6; round++) {
        struct node *root = 0;
        struct item *list = 0;
        for (int i = 0; i < 8000; i++) {
            long key = next();
            root = insert(root, key);
            struct item *item = malloc(sizeof *item);
            item->key = key;
            item->next = list;
            list = item;
        }
        result = result * 7 + sum(root);
        while (list) {
            struct item *rest = list->next;
            result += (unsigned long)list->key;
            free(list);
            list = rest;
        }
        release(root);
    }
    return result;
}
